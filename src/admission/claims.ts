/**
 * Who is scaling down in each group, in the whole process (Z8, against W2 and W3): the siblings are looked at, the pods
 * prepared and the time noted by one review at a time.
 */
export class Claims {
  readonly #holders = new Map<string, string>();

  /** Claims `group` for `holder`. @returns how to give it back, or who holds it */
  claim(
    group: string,
    holder: string,
  ):
    | { readonly kind: 'claimed'; readonly release: () => void }
    | { readonly kind: 'held'; readonly by: string } {
    const by = this.#holders.get(group);
    if (by !== undefined) return { kind: 'held', by };
    this.#holders.set(group, holder);
    return { kind: 'claimed', release: () => void this.#holders.delete(group) };
  }
}

/**
 * Who is scaling down in each group, in this process: one review of a group at a time asks for its claim among all
 * replicas (`group-claims.ts`), and a second is told so without a call.
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

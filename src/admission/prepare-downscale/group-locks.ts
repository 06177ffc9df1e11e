/**
 * Which set is being scaled down in each group, in this process: one review of a group at a time asks for its claim among
 * all replicas (`group-claims.ts`), and a second is denied without a call.
 */
export class GroupLocks {
  readonly #holders = new Map<string, string>();

  /** Locks `group` for `holder`. @returns how to release it, or who holds it */
  acquire(
    group: string,
    holder: string,
  ):
    | { readonly kind: 'acquired'; readonly release: () => void }
    | { readonly kind: 'held'; readonly by: string } {
    const by = this.#holders.get(group);
    if (by !== undefined) return { kind: 'held', by };
    this.#holders.set(group, holder);
    return { kind: 'acquired', release: () => void this.#holders.delete(group) };
  }
}

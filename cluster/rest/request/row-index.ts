import { apiVersionOf } from '#kubernetes/resource-type.ts';
import type { ResourceRow } from '../../resource-row.ts';

/** The served resources (MS-2); custom resources come and go. */
export class RowIndex {
  readonly #rows = new Map<string, Map<string, ResourceRow>>();

  constructor(rows: Iterable<ResourceRow>) {
    for (const row of rows) this.add(row);
  }

  /** Serves `row`, in place of an earlier one of the same version and plural. */
  add(row: ResourceRow): void {
    const apiVersion = apiVersionOf(row.type);
    const known = this.#rows.get(apiVersion);
    if (known === undefined) this.#rows.set(apiVersion, new Map([[row.type.plural, row]]));
    else known.set(row.type.plural, row);
  }

  /** Serves `row` no more. */
  remove(row: ResourceRow): void {
    const apiVersion = apiVersionOf(row.type);
    const known = this.#rows.get(apiVersion);
    known?.delete(row.type.plural);
    if (known?.size === 0) this.#rows.delete(apiVersion);
  }

  /** Returns the row of `plural` in `apiVersion` (`v1`, `apps/v1`), or undefined when it is not served. */
  find(apiVersion: string, plural: string): ResourceRow | undefined {
    return this.#rows.get(apiVersion)?.get(plural);
  }

  /** Returns the rows of `apiVersion` by their plurals, which is the order of `kubectl get all`; empty when it is not served. */
  ofVersion(apiVersion: string): readonly ResourceRow[] {
    const rows = [...(this.#rows.get(apiVersion)?.values() ?? [])];
    return rows.sort((a, b) => (a.type.plural < b.type.plural ? -1 : 1));
  }

  /** Returns all served `apiVersion`s, in the order in which they came. */
  apiVersions(): readonly string[] {
    return [...this.#rows.keys()];
  }
}

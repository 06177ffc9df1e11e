import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { integerAt, objectAt, stringAt } from '#statefulset/parse-fields.ts';
import { type BudgetSpec, selects } from '../api.ts';
import type { PatternCompiler } from '../pattern/pattern.ts';
import { parseBudget } from './parse-budget.ts';
import { isUntypedObject, untypedOf } from './untyped.ts';

/** One budget as far as it is known. */
export interface KnownBudget {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The generation of the newest object that was seen, whether it could be read or not. */
  readonly generation: number;
  /** What it said last that could be read; undefined where it never did. */
  readonly spec: BudgetSpec | undefined;
  /** What is wrong with the newest object; the one before it is kept meanwhile, which has to be reported. */
  readonly problem: string | undefined;
  /** Which pods it governs; undefined where that cannot be known: then it may be any of its namespace. */
  readonly matchLabels: ReadonlyMap<string, string> | undefined;
}

/** What became of an object of the cache: the label `result` of `rollout_operator_zpdb_configurations_observed_total`. */
export type BudgetObservation = 'updated' | 'ignored' | 'invalid' | 'deleted' | 'delete-ignored';

/** Which budget governs a pod. */
export type Governing =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly budget: KnownBudget; readonly spec: BudgetSpec }
  /** It cannot be known which, or what it says: nothing may be disrupted. */
  | { readonly kind: 'unclear'; readonly budgets: readonly KnownBudget[]; readonly text: string };

/** An object of the API as it names itself. */
interface Identity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
}

/**
 * The budgets of a cache, by namespace and name, each as the incarnation that was seen last: one that is deleted and made
 * again counts its generations again (scenario 42). Pure: nothing here waits, logs or makes a request.
 */
export class KnownBudgets {
  readonly #compile: PatternCompiler;
  readonly #budgets = new Map<string, KnownBudget>();

  constructor(compile: PatternCompiler) {
    this.#compile = compile;
  }

  /** Returns all of them, in no order that means anything. */
  list(): readonly KnownBudget[] {
    return [...this.#budgets.values()];
  }

  get(namespace: string, name: string): KnownBudget | undefined {
    return this.#budgets.get(keyOf({ namespace, name }));
  }

  /** Takes an object that was added or changed, or is delivered again. */
  put(value: JsonValue): BudgetObservation {
    const seen = identityOf(value);
    if (seen === undefined || !isJsonObject(value)) return 'ignored';
    const known = this.#budgets.get(keyOf(seen));
    const former = known?.uid === seen.uid ? known : undefined;
    if (former !== undefined && former.generation >= seen.generation)
      return outcomeOf(former, seen);
    const next = this.#read(value, seen, former);
    this.#budgets.set(keyOf(seen), next);
    return next.problem === undefined ? 'updated' : 'invalid';
  }

  /** Takes an object that was deleted, as it was seen last: what is gone does not come back with its uid. */
  remove(value: JsonValue): BudgetObservation {
    const seen = identityOf(value);
    if (seen === undefined) return 'ignored';
    const known = this.#budgets.get(keyOf(seen));
    if (known === undefined || known.uid !== seen.uid) return 'delete-ignored';
    this.#budgets.delete(keyOf(seen));
    return 'deleted';
  }

  /** Tells which budget governs a pod of `namespace` with these labels; those that may govern it are sorted by name. */
  governing(namespace: string, labels: Readonly<Record<string, string>>): Governing {
    const found = this.list().filter((budget) => mayGovern(budget, namespace, labels));
    const [only] = found;
    if (only === undefined) return { kind: 'none' };
    const budgets = found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const unread = budgets.find(({ spec }) => spec === undefined);
    if (unread !== undefined) return { kind: 'unclear', budgets, text: unreadText(unread) };
    if (budgets.length > 1 || only.spec === undefined) {
      return { kind: 'unclear', budgets, text: SEVERAL };
    }
    return { kind: 'one', budget: only, spec: only.spec };
  }

  #read(object: JsonObject, seen: Identity, former: KnownBudget | undefined): KnownBudget {
    const untyped = untypedOf(object);
    const parsed = parseBudget(isUntypedObject(untyped) ? untyped : {}, this.#compile);
    if (parsed.kind === 'valid') {
      const { spec } = parsed;
      return { ...seen, spec, problem: undefined, matchLabels: spec.matchLabels };
    }
    const spec = former?.spec;
    return {
      ...seen,
      spec,
      problem: parsed.text,
      matchLabels: spec?.matchLabels ?? parsed.matchLabels,
    };
  }
}

/** Wire text. */
const SEVERAL = 'multiple zoned pod disruption budgets found for pod';

function unreadText({ name, problem = '' }: KnownBudget): string {
  return `ZoneAwarePodDisruptionBudget "${name}" cannot be read: ${problem}`;
}

/**
 * Returns what an object shows: one that says nothing new is as good as it was; one that is older than what is known says
 * nothing.
 */
function outcomeOf({ generation, problem }: KnownBudget, seen: Identity): BudgetObservation {
  return generation === seen.generation && problem !== undefined ? 'invalid' : 'ignored';
}

function mayGovern(
  { namespace: own, matchLabels }: KnownBudget,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): boolean {
  return own === namespace && (matchLabels === undefined || selects({ matchLabels }, labels));
}

function keyOf({ namespace, name }: Pick<Identity, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

/** Returns who `object` is; undefined for what is no object of the API. */
function identityOf(value: JsonValue): Identity | undefined {
  if (!isJsonObject(value)) return undefined;
  const metadata = objectAt(value, 'metadata');
  const name = stringAt(metadata, 'name');
  const uid = stringAt(metadata, 'uid');
  if (name === undefined || uid === undefined) return undefined;
  const namespace = stringAt(metadata, 'namespace') ?? '';
  return { namespace, name, uid, generation: integerAt(metadata, 'generation') ?? 0 };
}

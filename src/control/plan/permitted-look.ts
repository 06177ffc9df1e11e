import type { Because } from '#base/because.ts';
import { type Decision, isDisruptive } from '../decision/decision.ts';
import type { Reason } from '../decision/reasons.ts';
import type { RequestRefusals } from '../write/request-refusals.ts';
import { instantOf } from './group-moment.ts';
import { type HeldBack, withHeldBack } from './held-back.ts';
import type { Look } from './look.ts';
import { lackingIn } from './plan-permissions.ts';
import { type DemandPorts, disrupts, unprovenFor } from './proof-demand.ts';
import { ledger, view } from './secure-plan.ts';

/** What says which requests may not be made now. */
export interface PermittedLookPorts extends DemandPorts {
  readonly requests: RequestRefusals;
  /** What could not be found out in this pass, as `Missing` names it, and why nothing is disrupted for that. */
  readonly passedOver: ReadonlyMap<string, Because<Reason>>;
}

/** Returns `seen` without what would ask for what failed just now, or could not be found out; all else goes on. */
export function permittedLook(seen: Look, ports: PermittedLookPorts): Look {
  let look = seen;
  for (const { capability, plan } of seen.planned.parts) {
    const { name } = capability;
    const own = new Set(plan.decisions);
    const refusal = refusalOf(writesOf(name), seen, ports);
    if (refusal !== undefined) {
      const keepsBack = (decision: Decision): boolean => isWritten(decision) && own.has(decision);
      look = holding(look, { keepsBack, ...refusal });
    }
    const because = ports.passedOver.get(name);
    if (because !== undefined) {
      const keepsBack = (decision: Decision): boolean =>
        isDisruptive(decision) && own.has(decision);
      look = holding(look, { keepsBack, because });
    }
  }
  return withoutUnreserved(withoutUnproven(look, ports), ports);
}

/** Names the writes of a capability among the requests of a pass. */
export function writesOf(name: string): string {
  return `the writes of ${name}`;
}

/** Reports whether `decision` is a write whose answer a pass awaits. */
export function isWritten({ kind }: Decision): boolean {
  return kind === 'scale' || kind === 'set-current-revision';
}

/** Returns `look` without disruptions for which something would have to be read that is refused. */
function withoutUnproven(look: Look, ports: PermittedLookPorts): Look {
  const { plan, moment } = look;
  const refusal = refusalOf(view, look, ports);
  if (refusal === undefined || !disrupts(plan)) return look;
  const isMissing = unprovenFor(plan, moment, ports) !== undefined;
  if (!isMissing && !ports.passedOver.has(view)) return look;
  return holding(look, { keepsBack: isDisruptive, ...refusal });
}

function holding(look: Look, held: HeldBack): Look {
  return { ...look, plan: withHeldBack(look.plan, held) };
}

/** Returns `look` without disruptions that wait for a reservation while its ledger cannot be asked; all else goes on. */
function withoutUnreserved(look: Look, ports: PermittedLookPorts): Look {
  if (lackingIn(look.plan, look.unpermitted).length === 0) return look;
  const keepsBack = (decision: Decision): boolean => look.unpermitted.has(decision);
  const refusal = refusalOf(ledger, look, ports);
  const because = refusal?.because ?? ports.passedOver.get(ledger);
  if (because === undefined) return look;
  return holding(look, { keepsBack, because, until: refusal?.until });
}

function refusalOf(
  what: string,
  { moment }: Look,
  { requests }: PermittedLookPorts,
): Pick<HeldBack, 'because' | 'until'> | undefined {
  const refusal = requests.of(moment.key, what, moment.monotonic);
  if (refusal === undefined) return undefined;
  return { because: refusal.because, until: instantOf(refusal.until, moment) };
}

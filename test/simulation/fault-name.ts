import {
  type CallPoint,
  type Fault,
  type HostileFault,
  isHostile,
  type PlainFault,
  type PodCallPoint,
} from './fault.ts';

/** What a fault is called; the same fault has the same name in every run of its scenario. */
export function faultName(fault: Fault): string {
  return isHostile(fault) ? hostileName(fault) : plainName(fault);
}

/** Names what a fault does to what, whichever of its like it hits: faults of one class are alike. */
export function faultClass(fault: Fault): string {
  return faultName(fault).replace(/^#\d+ /, '');
}

function hostileName(fault: HostileFault): string {
  switch (fault.kind) {
    case 'late-kill':
      return `${callName(fault.at)}: killed before, arrives ${fault.late / 1_000} s late`;
    case 'pause':
      return `${callName(fault.at)}: stopped for ${fault.span / 1_000} s`;
    case 'slow-read':
      return `${callName(fault.at)}: takes 30 s, ${fault.change} meanwhile`;
    case 'hiccup':
      return `${callName(fault.at)}: hiccup of ${fault.where} after`;
    case 'clock':
      return `${callName(fault.at)}: clock set by ${fault.step / 1_000} s after`;
    case 'change':
      return `#${fault.nth} deletion: ${fault.change}`;
    default:
      return fault satisfies never;
  }
}

function plainName(fault: PlainFault): string {
  switch (fault.kind) {
    case 'answer':
      return `${callName(fault.at)}: ${fault.effect}`;
    case 'kill':
      return `${callName(fault.at)}: killed ${fault.moment}`;
    case 'pod-kill':
      return `${podCallName(fault.at)}: killed ${fault.moment}`;
    case 'stale':
      return `${callName(fault.at)}: killed after, successor sees the past`;
    case 'event':
      return `#${fault.at.nth} event of ${fault.at.resource}: ${fault.effect}`;
    default:
      return fault satisfies never;
  }
}

function callName({ client, verb, resource, subresource, nth }: CallPoint): string {
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  return `#${nth} ${verb} ${what} by ${client}`;
}

function podCallName({ client, method, pod, nth }: PodCallPoint): string {
  return `#${nth} ${method} to ${pod} by ${client}`;
}

import type { EventNote, EventRecorder } from '#kubernetes/events/event-recorder.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import type { RolloutView } from '../parse-resource.ts';

/** So many Events of one reason are recorded of one rollout (F-7). */
const usually = 5;
/** Reasons that have a pace of their own. */
const most: ReadonlyMap<string, number> = new Map([
  ['NoBudget', 1],
  ['OrderedReadyLimitsParallelism', 1],
  ['PartialRolloutAging', Number.POSITIVE_INFINITY],
]);

/** How often each reason was reported for the rollout `key`. */
interface Told {
  readonly key: string;
  readonly counts: Map<string, number>;
}

/** Records through `inner` what was not reported often enough of the present rollout of each resource; the rest is dropped. */
export function limitedEvents(
  inner: EventRecorder,
  rollouts: Pick<Informer<RolloutView>, 'lister' | 'onChange'>,
): EventRecorder {
  const all = new Map<string, Told>();
  rollouts.onChange(({ kind, object }) => {
    if (kind === 'deleted') all.delete(object.uid);
  });
  const isDue = ({ about, reason }: EventNote): boolean => {
    const key = rollouts.lister.get(about.namespace, about.name)?.progress.key ?? '';
    const known = all.get(about.uid);
    const { counts } = known?.key === key ? known : { counts: new Map<string, number>() };
    all.set(about.uid, { key, counts });
    const count = counts.get(reason) ?? 0;
    counts.set(reason, count + 1);
    return count < (most.get(reason) ?? usually);
  };
  return {
    record: (note) => {
      if (isDue(note)) inner.record(note);
    },
    flush: () => inner.flush(),
  };
}

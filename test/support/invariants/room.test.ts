import assert from 'node:assert/strict';
import { test } from 'node:test';
import { millis, seconds } from '#base/units.ts';
import { judge } from '../judge/judge.ts';
import { Story } from '../judge/story.ts';
import { operatorUser } from '../judge/story-operator.ts';
import { ingesterGroup } from '../objects/objects.ts';

const zoneA = 'ingester-zone-a';
const [a0, a1, a2, a3] = [`${zoneA}-0`, `${zoneA}-1`, `${zoneA}-2`, `${zoneA}-3`];

/** The text of what SHOWN finds in `story`, line by line. */
function found(story: Story): readonly string[] {
  const { statements } = story;
  const judgement = judge(story, {
    ours: (user) => user === operatorUser,
    statements,
    areDeliveriesKnown: false,
    shownAfter: seconds(3),
  });
  const findings = judgement.violations.filter(({ id }) => id === 'SHOWN');
  return findings.flatMap(({ message }) => message.split('\n'));
}

function group(): Story {
  const zones = ['a', 'b'];
  return new Story(
    ingesterGroup({ zones, replicas: 4, maxUnavailable: '3', currentRevision: 'prev-hash' }),
  );
}

test('SHOWN names each slot that leaves no room, why it counts, and what the server had', () => {
  const story = group().remove(a0).wait(seconds(1)).gone(a0).remove(a1).wait(seconds(4));
  const seen = story.revision;
  story.create(a0, { revision: 'last-hash' }).ready(a0).wait(millis(5));
  story
    .remove(a2, { seen, outcome: 'dropped', isUnheard: true, answeredAfter: millis(30) })
    .wait(millis(2))
    .remove(a3, { seen });
  assert.deepEqual(found(story), [
    `We sent a deletion of pod test/${a3} although for at least 3000 ms that there was no room: with it 4 slots of ${zoneA} are unavailable or going, its limit is 3`,
    '    it left at 2026-01-01T00:00:05.007Z on pods at revision 13 and sets at 13; it is judged by pods at revision 13 and sets at 13; the server had 16',
    `    ${a0}: missing since 4007 ms before (revision 12); at the server available since 7 ms before (revision 15)`,
    `    ${a1}: terminating since 4007 ms before (revision 13)`,
    `    ${a2}: the request (call 3) left 2 ms before, was received 2 ms before, was dropped 28 ms after; available since 5007 ms before (revision 5)`,
    `    ${a3}: this request; available since 5007 ms before (revision 6); at the server terminating since 0 ms before (revision 16)`,
  ]);
});

test('SHOWN names the slots of another zone that were unavailable', () => {
  const story = group().ready('ingester-zone-b-1', false).wait(seconds(4));
  story.remove(a0, { outcome: 409 });
  assert.deepEqual(found(story), [
    `We sent a deletion of pod test/${a0} although for at least 3000 ms that slots 1 of ingester-zone-b were unavailable`,
    '    it left at 2026-01-01T00:00:04.000Z on pods at revision 11 and sets at 11; it is judged by pods at revision 11 and sets at 11; the server had 11',
    '    ingester-zone-b-1: unavailable since 4000 ms before (revision 11)',
  ]);
});

test('SHOWN names the request in another zone that nothing had ended', () => {
  const story = group()
    .remove('ingester-zone-b-1', { outcome: 'dropped', isUnheard: true })
    .wait(seconds(4))
    .remove(a0);
  assert.deepEqual(found(story), [
    `We sent a deletion of pod test/${a0} although for at least 3000 ms nothing yet that ended our request for pod ingester-zone-b-1: the request (call 1) left 4000 ms before, was received 4000 ms before, was dropped 4000 ms before`,
  ]);
});

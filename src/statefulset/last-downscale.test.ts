import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseZoneEntry, type ZoneEntry } from './last-downscale.ts';

const time = '2026-01-01T00:00:00Z';

const entries: Record<string, { readonly text: string; readonly says: ZoneEntry }> = {
  'a time is noted': {
    text: '{"lastDownscaled":"2026-01-01T00:00:00Z"}',
    says: { kind: 'noted', at: time },
  },
  'the member may be written in any letter case': {
    text: '{"LASTdownscaled":"2026-01-01T00:00:00Z"}',
    says: { kind: 'noted', at: time },
  },
  'other members say nothing': {
    text: '{"zone":1,"lastDownscaled":"2026-01-01T00:00:00Z"}',
    says: { kind: 'noted', at: time },
  },
  'a text that is no time is noted as it stands': {
    text: '{"lastDownscaled":"soon"}',
    says: { kind: 'noted', at: 'soon' },
  },
  'the empty text is a text': {
    text: '{"lastDownscaled":""}',
    says: { kind: 'noted', at: '' },
  },
  'an object without the member has no time': {
    text: '{}',
    says: { kind: 'noted', at: undefined },
  },
  'a null member is no time': {
    text: '{"lastDownscaled":null}',
    says: { kind: 'noted', at: undefined },
  },
  'null is an object without the member': { text: 'null', says: { kind: 'noted', at: undefined } },
  'a member that is a number is corrupt': {
    text: '{"lastDownscaled":1767225600}',
    says: { kind: 'corrupt' },
  },
  'a list is corrupt': { text: '["2026-01-01T00:00:00Z"]', says: { kind: 'corrupt' } },
  'a time without an object around it is corrupt': {
    text: '"2026-01-01T00:00:00Z"',
    says: { kind: 'corrupt' },
  },
  'what is no JSON is corrupt': { text: '{"lastDownscaled":', says: { kind: 'corrupt' } },
  'the empty text is no JSON': { text: '', says: { kind: 'corrupt' } },
};

for (const [title, { text, says }] of Object.entries(entries)) {
  test(`parseZoneEntry(): ${title}`, () => assert.deepEqual(parseZoneEntry(text), says));
}

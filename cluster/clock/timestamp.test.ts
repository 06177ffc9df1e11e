import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assert as check, integer, property } from 'fast-check';
import { instant } from '#base/units.ts';
import { microTimestamp, parseTimestamp, timestamp } from './timestamp.ts';

test('timestamp() writes whole seconds, rounded down', () => {
  assert.equal(timestamp(instant(1_767_225_600_999)), '2026-01-01T00:00:00Z');
});

test('microTimestamp() writes six digits of the second', () => {
  assert.equal(microTimestamp(instant(1_767_225_600_250)), '2026-01-01T00:00:00.250000Z');
});

test('parseTimestamp() reads what the platform writes, over all dates', () => {
  check(
    property(integer({ min: 0, max: 253_402_300_799_999 }), (value) => {
      assert.equal(parseTimestamp(new Date(value).toISOString()), value);
      assert.equal(timestamp(instant(value)), new Date(value).toISOString().replace(/\.\d+/, ''));
    }),
  );
});

test('parseTimestamp() answers undefined for what is no UTC timestamp', () => {
  assert.equal(parseTimestamp('2026-01-01'), undefined);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bare, block, given, SPREAD, template, text, when } from './template.ts';

describe('template()', () => {
  const cases: Readonly<Record<string, { readonly object: unknown; readonly want: string }>> = {
    'writes what has no pieces as it is': {
      object: { a: 1, b: ['x', { c: true, d: {} }], e: [], f: 'true' },
      want: '---\na: 1\nb:\n  - x\n  - c: true\n    d: {}\ne: []\nf: "true"\n',
    },
    'quotes a text that has an expression, as its value may look like a number': {
      object: { a: `x-${text('.Release.Namespace')}` },
      want: '---\na: "x-{{ .Release.Namespace }}"\n',
    },
    'writes a number as it comes': {
      object: { a: bare('.Values.a'), b: [bare('.Values.b')] },
      want: '---\na: {{ .Values.a }}\nb:\n  - {{ .Values.b }}\n',
    },
    'moves a block to where it is written': {
      object: { a: { b: block('toYaml .Values.b') } },
      want: '---\na:\n  b:\n    {{- toYaml .Values.b | nindent 4 }}\n',
    },
    'joins a block with the members beside it, and with the items': {
      object: { a: { x: 1, [SPREAD]: block('include "l" .') }, b: ['y', block('include "m" .')] },
      want: '---\na:\n  x: 1\n  {{- include "l" . | nindent 2 }}\nb:\n  - y\n  {{- include "m" . | nindent 2 }}\n',
    },
    'leaves out with its key what is empty': {
      object: { a: given('.Values.a') },
      want: '---\n{{- with .Values.a }}\na:\n  {{- toYaml . | nindent 2 }}\n{{- end }}\n',
    },
    'leaves out items that are empty': {
      object: { a: ['x', given('.Values.a')] },
      want: '---\na:\n  - x\n{{- with .Values.a }}\n  {{- toYaml . | nindent 2 }}\n{{- end }}\n',
    },
    'asks for each member and item whether its condition holds': {
      object: { a: when('.x', 1), b: [when('.y', { c: 2, d: 3 })] },
      want: '---\n{{- if .x }}\na: 1\n{{- end }}\nb:\n{{- if .y }}\n  - c: 2\n    d: 3\n{{- end }}\n',
    },
    'leaves out members that are undefined': {
      object: { a: undefined, b: 1 },
      want: '---\nb: 1\n',
    },
  };

  for (const [fact, { object, want }] of Object.entries(cases)) {
    test(fact, () => {
      assert.equal(template([object]), want);
    });
  }

  test('leaves out a document with its separator', () => {
    assert.equal(
      template([when('.x', { a: 1 }), { b: 2 }]),
      '{{- if .x }}\n---\na: 1\n{{- end }}\n---\nb: 2\n',
    );
  });

  test('refuses an item whose first member may be missing: the item would begin without its dash', () => {
    assert.throws(() => template([{ a: [{ b: when('.x', 1), c: 2 }] }]), /cannot begin with/);
  });
});

/**
 * Writes objects as templates of a Helm chart: YAML in which some values are expressions. An object says all else as it is
 * said for `kubectl apply`, so that what is added there is in the chart, too.
 */
import { stringify } from 'yaml';
import { assertNever } from '#base/assert-never.ts';

/** What is in an object in place of a value. */
type Form =
  | { readonly kind: 'bare'; readonly expression: string }
  | { readonly kind: 'block'; readonly expression: string }
  | { readonly kind: 'given'; readonly expression: string }
  | { readonly kind: 'when'; readonly condition: string; readonly value: unknown };

/** A value that is only known when the chart is rendered. */
export class Piece {
  readonly form: Form;

  constructor(form: Form) {
    this.form = form;
  }
}

/** A number or a boolean. */
export function bare(expression: string): Piece {
  return new Piece({ kind: 'bare', expression });
}

/** The lines that `expression` has, moved to where they stand. Under {@link SPREAD} and in a list they join the others. */
export function block(expression: string): Piece {
  return new Piece({ kind: 'block', expression });
}

/** Any value, left out with its key where it is empty. */
export function given(expression: string): Piece {
  return new Piece({ kind: 'given', expression });
}

/** `value` with its key, or as an item of a list, where `condition` holds. */
export function when(condition: string, value: unknown): Piece {
  return new Piece({ kind: 'when', condition, value });
}

/** `expression` as a part of a text. */
export function text(expression: string): string {
  return `«${expression}»`;
}

/** The key of a {@link block} whose lines are members of the object around it; further ones begin with it. */
export const SPREAD = '...';

/** `objects` as the documents of one template; those in a {@link when} are left out where it does not hold. */
export function template(objects: readonly unknown[]): string {
  return `${objects.flatMap(documentLines).join('\n')}\n`;
}

function documentLines(value: unknown): readonly string[] {
  if (value instanceof Piece && value.form.kind === 'when') {
    return conditional(value.form.condition, documentLines(value.form.value));
  }
  return ['---', ...membersOf(value, 0)];
}

function conditional(condition: string, lines: readonly string[]): readonly string[] {
  return [`{{- if ${condition} }}`, ...lines, '{{- end }}'];
}

function membersOf(value: unknown, indent: number): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => itemLines(item, indent));
  if (typeof value !== 'object' || value === null) throw new Error(`Cannot write ${typeof value}`);
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .flatMap(([key, member]) => memberLines(key, member, indent));
}

function memberLines(key: string, value: unknown, indent: number): readonly string[] {
  const pad = ' '.repeat(indent);
  if (value instanceof Piece) return pieceLines(key, value.form, indent);
  if (isLeaf(value)) return [`${pad}${key}: ${scalar(value)}`];
  const inner = Array.isArray(value) ? itemsOf(value, indent + 2) : membersOf(value, indent + 2);
  return [`${pad}${key}:`, ...inner];
}

const itemsOf = (items: readonly unknown[], indent: number): readonly string[] =>
  items.flatMap((item) => itemLines(item, indent));

function pieceLines(key: string, form: Form, indent: number): readonly string[] {
  const pad = ' '.repeat(indent);
  switch (form.kind) {
    case 'bare':
      return [`${pad}${key}: {{ ${form.expression} }}`];
    case 'block': {
      if (key.startsWith(SPREAD)) return [linesAt(form.expression, indent)];
      return [`${pad}${key}:`, linesAt(form.expression, indent + 2)];
    }
    case 'given':
      return [
        `{{- with ${form.expression} }}`,
        `${pad}${key}:`,
        linesAt('toYaml .', indent + 2),
        '{{- end }}',
      ];
    case 'when':
      return conditional(form.condition, memberLines(key, form.value, indent));
    default:
      return assertNever(form);
  }
}

function itemLines(item: unknown, indent: number): readonly string[] {
  const pad = ' '.repeat(indent);
  if (item instanceof Piece) {
    const { form } = item;
    if (form.kind === 'when') return conditional(form.condition, itemLines(form.value, indent));
    if (form.kind === 'bare') return [`${pad}- {{ ${form.expression} }}`];
    if (form.kind === 'block') return [linesAt(form.expression, indent)];
    return [`{{- with ${form.expression} }}`, linesAt('toYaml .', indent), '{{- end }}'];
  }
  if (isLeaf(item)) return [`${pad}- ${scalar(item)}`];
  const [first = '', ...rest] = membersOf(item, indent + 2);
  if (first.startsWith('{{')) throw new Error(`An item of a list cannot begin with ${first}`);
  return [`${pad}- ${first.trimStart()}`, ...rest];
}

function linesAt(expression: string, indent: number): string {
  return `${' '.repeat(indent)}{{- ${expression} | nindent ${indent} }}`;
}

function isLeaf(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

/** Quoted where it has expressions: what they give may look like a number. */
function scalar(value: unknown): string {
  if (typeof value !== 'string' || !value.includes('«')) {
    return stringify(value, { lineWidth: 0 }).trimEnd();
  }
  return `"${value.replace(/«([^»]*)»/g, '{{ $1 }}')}"`;
}

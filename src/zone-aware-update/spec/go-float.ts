/** Digits with underscores between them, as Go reads them. */
const decimal = '\\d+(?:_\\d+)*';
const hexDigits = '[\\da-f]+(?:_[\\da-f]+)*';
const decimalForm = new RegExp(
  `^[+-]?(?:${decimal}\\.?(?:${decimal})?|\\.${decimal})(?:e[+-]?${decimal})?$`,
  'i',
);
const hexForm = new RegExp(
  `^([+-]?)0x(?:(_?${hexDigits})(?:\\.(${hexDigits})?)?|\\.(${hexDigits}))p([+-]?${decimal})$`,
  'i',
);
const infinite = /^([+-]?)inf(?:inity)?$/i;
/** More digits than are ever written. */
const longest = 128;

/**
 * Returns the number that `text` is to Go, whole and without blanks: decimal and hexadecimal forms, `inf` and `nan` in any
 * case; undefined for anything else, and where it is beyond 64 bits.
 *
 * @see https://pkg.go.dev/strconv#ParseFloat
 */
export function parseGoFloat(text: string): number | undefined {
  if (text.length > longest) return undefined;
  if (/^nan$/i.test(text)) return Number.NaN;
  const infinity = infinite.exec(text);
  if (infinity !== null) return infinity[1] === '-' ? -Infinity : Infinity;
  const hex = hexForm.exec(text);
  const value = hex === null ? decimalOf(text) : hexOf(hex);
  return value === undefined || !Number.isFinite(value) ? undefined : value;
}

function decimalOf(text: string): number | undefined {
  return decimalForm.test(text) ? Number(text.replaceAll('_', '')) : undefined;
}

function hexOf([, sign, whole = '', fraction = '', bare, exponent]: RegExpExecArray): number {
  const after = (bare ?? fraction).replaceAll('_', '');
  const digits = `${whole.replaceAll('_', '')}${after}`;
  const power = Number((exponent ?? '0').replaceAll('_', '')) - 4 * after.length;
  const value = Number.parseInt(digits, 16) * 2 ** power;
  return sign === '-' ? -value : value;
}

const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const alreadyCanonical = /^[1-9]\d?(?:m|k|M|G|T|Ki|Mi|Gi|Ti)?$/;
const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d+)?$/;
const nano = 1_000_000_000n;

/**
 * The canonical form of a resource quantity, such as `500m` for `0.5` or `1Gi` for `1024Mi`; undefined when it is none.
 * Values finer than one billionth are rounded up, as upstream.
 */
export function canonicalQuantity(text: string): string | undefined {
  if (alreadyCanonical.test(text)) return text;
  const [match, sign, whole = '', fraction = '', suffix = ''] = pattern.exec(text) ?? [];
  if (match === undefined || whole + fraction === '') return undefined;
  const magnitude = nanosOf(whole, fraction, suffix);
  const prefix = sign === '-' && magnitude !== 0n ? '-' : '';
  return prefix + formatted(magnitude, suffix);
}

/** A quantity in billionths, or undefined when `text` is none. Meant for comparisons. */
export function quantityNanos(text: string): bigint | undefined {
  const [match, sign, whole = '', fraction = '', suffix = ''] = pattern.exec(text) ?? [];
  if (match === undefined || whole + fraction === '') return undefined;
  const magnitude = nanosOf(whole, fraction, suffix);
  return sign === '-' ? -magnitude : magnitude;
}

function nanosOf(whole: string, fraction: string, suffix: string): bigint {
  const digits = BigInt(`0${whole}${fraction}`);
  const scaled = digits * nano * multiplierOf(suffix).times;
  const divisor = 10n ** BigInt(fraction.length) * multiplierOf(suffix).per;
  return (scaled + divisor - 1n) / divisor;
}

function multiplierOf(suffix: string): { readonly times: bigint; readonly per: bigint } {
  const binary = binarySuffixes.indexOf(suffix);
  if (binary >= 0) return { times: 1024n ** BigInt(binary), per: 1n };
  const exponent = decimalExponent(suffix);
  return exponent >= 0
    ? { times: 10n ** BigInt(exponent), per: 1n }
    : { times: 1n, per: 10n ** BigInt(-exponent) };
}

function decimalExponent(suffix: string): number {
  const index = decimalSuffixes.indexOf(suffix);
  if (index >= 0) return (index - 3) * 3;
  // Bounded: a larger exponent has no meaning, and its power would not fit into memory.
  return Math.max(-30, Math.min(30, Number(suffix.slice(1))));
}

function formatted(magnitude: bigint, suffix: string): string {
  if (magnitude === 0n) return '0';
  if (suffix.endsWith('i') && magnitude >= 1024n * nano) return binary(magnitude);
  const exponential = /^[eE]/.test(suffix);
  let value = magnitude;
  let index = 0;
  while (value % 1000n === 0n && index < decimalSuffixes.length - 1) {
    value /= 1000n;
    index += 1;
  }
  const exponent = (index - 3) * 3;
  if (exponential) return exponent === 0 ? `${value}` : `${value}e${exponent}`;
  return `${value}${decimalSuffixes[index] ?? ''}`;
}

function binary(magnitude: bigint): string {
  let value = (magnitude + nano - 1n) / nano;
  let index = 0;
  while (value % 1024n === 0n && index < binarySuffixes.length - 1) {
    value /= 1024n;
    index += 1;
  }
  return `${value}${binarySuffixes[index] ?? ''}`;
}

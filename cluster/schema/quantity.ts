const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const alreadyCanonical = /^[1-9]\d{0,2}(?:m|k|M|G|T|Ki|Mi|Gi|Ti)?$/;
const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d+)?$/;
const nano = 1_000_000_000n;

/**
 * Returns the canonical form of a resource quantity, such as `500m` for `0.5` or `1Gi` for `1024Mi`; undefined when it is
 * none. Values finer than one billionth are rounded up, as upstream.
 */
export function canonicalQuantity(text: string): string | undefined {
  if (alreadyCanonical.test(text)) return text;
  const [match, sign, whole = '', fraction = '', suffix = ''] = pattern.exec(text) ?? [];
  if (match === undefined || whole + fraction === '') return undefined;
  const magnitude = nanosOf(whole, fraction, suffix);
  const prefix = sign === '-' && magnitude !== 0n ? '-' : '';
  return prefix + formatted(magnitude, suffix);
}

/** Texts that are remembered: the pods of a cluster ask for the same few quantities over and over. */
const mostRemembered = 1_000;
const remembered = new Map<string, bigint>();

/** Returns a quantity in billionths, or undefined when `text` is none. Meant for comparisons. */
export function quantityNanos(text: string): bigint | undefined {
  const known = remembered.get(text);
  if (known !== undefined) return known;
  if (remembered.size === mostRemembered) remembered.clear();
  const nanos = readNanos(text);
  if (nanos !== undefined) remembered.set(text, nanos);
  return nanos;
}

function readNanos(text: string): bigint | undefined {
  const [match, sign, whole = '', fraction = '', suffix = ''] = pattern.exec(text) ?? [];
  if (match === undefined || whole + fraction === '') return undefined;
  const magnitude = nanosOf(whole, fraction, suffix);
  return sign === '-' ? -magnitude : magnitude;
}

function nanosOf(whole: string, fraction: string, suffix: string): bigint {
  const digits = BigInt(`0${whole}${fraction}`);
  const { times, per } = multiplierOf(suffix);
  const scaled = digits * nano * times;
  if (fraction === '' && per === 1n) return scaled;
  const divisor = 10n ** BigInt(fraction.length) * per;
  return (scaled + divisor - 1n) / divisor;
}

interface Multiplier {
  readonly times: bigint;
  readonly per: bigint;
}

function powerOfTen(exponent: number): Multiplier {
  return exponent >= 0
    ? { times: 10n ** BigInt(exponent), per: 1n }
    : { times: 1n, per: 10n ** BigInt(-exponent) };
}

const multipliers: ReadonlyMap<string, Multiplier> = new Map([
  ...binarySuffixes.map((suffix, i) => [suffix, { times: 1024n ** BigInt(i), per: 1n }] as const),
  ...decimalSuffixes.map((suffix, i) => [suffix, powerOfTen((i - 3) * 3)] as const),
]);

function multiplierOf(suffix: string): Multiplier {
  // Bounded: a larger exponent has no meaning, and its power would not fit into memory.
  return (
    multipliers.get(suffix) ?? powerOfTen(Math.max(-30, Math.min(30, Number(suffix.slice(1)))))
  );
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

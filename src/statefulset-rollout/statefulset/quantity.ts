/** Powers of ten, and of 1024, that a suffix of a quantity stands for. */
const decimal: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binary: Readonly<Record<string, bigint>> = {
  Ki: 10n,
  Mi: 20n,
  Gi: 30n,
  Ti: 40n,
  Pi: 50n,
  Ei: 60n,
};

const quantity = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE][+-]?\d{1,3})|([KMGTPE]i|[numkMGTPE]?))$/;
/** Fractions that two quantities are compared in. */
const places = 40;

/** Returns whether `one` and `other` are the same amount, such as `1000m` and `1`; false where one is no quantity. */
export function isSameQuantity(one: number | string, other: number | string): boolean {
  const amount = amountOf(String(one));
  return amount !== undefined && amount === amountOf(String(other));
}

/** Returns a quantity in units of 10^-{@link places}; undefined for what is no quantity, or longer than any real one. */
function amountOf(text: string): bigint | undefined {
  const found = text.length > 64 ? null : quantity.exec(text);
  if (found === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] = found;
  const shift = places + powerOf(exponent, suffix) - fraction.length;
  if (`${whole}${fraction}` === '' || shift < 0) return undefined;
  const digits = BigInt(`${whole}${fraction}`) * 10n ** BigInt(shift);
  const amount = digits << (binary[suffix] ?? 0n);
  return sign === '-' ? -amount : amount;
}

/** Returns a power of ten. */
function powerOf(exponent: string | undefined, suffix: string): number {
  return exponent === undefined ? (decimal[suffix] ?? 0) : Number(exponent.slice(1));
}

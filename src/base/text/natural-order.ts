/**
 * Compares names as people count (RC-43): `x-1 < x-2 < x-10`.
 *
 * Names are cut into runs of digits and of other characters. Two runs of digits compare as integers of any
 * length, other runs as strings, and of two lists that agree so far the shorter sorts first. Names that only
 * leading zeros tell apart compare as strings, so that the order is total.
 *
 * @returns negative when `left` sorts first, positive when `right` does, 0 when they are equal
 */
export function compareNaturally(left: string, right: string): number {
  if (left === right) return 0;
  let leftStart = startOfDifference(left, right);
  let rightStart = leftStart;
  while (leftStart < left.length && rightStart < right.length) {
    const leftEnd = endOfRun(left, leftStart);
    const rightEnd = endOfRun(right, rightStart);
    const order = compareRuns(left.slice(leftStart, leftEnd), right.slice(rightStart, rightEnd));
    if (order !== 0) return order;
    leftStart = leftEnd;
    rightStart = rightEnd;
  }
  const hasMoreLeft = leftStart < left.length;
  const hasMoreRight = rightStart < right.length;
  if (hasMoreLeft !== hasMoreRight) return hasMoreLeft ? 1 : -1;
  return compareText(left, right);
}

/**
 * Returns where comparing may start: pods of one set share a long prefix, which is skipped, but for the number that the
 * first difference is in, or the one character before it that says which run it belongs to.
 */
function startOfDifference(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left.charCodeAt(start) === right.charCodeAt(start)) start += 1;
  if (start > 0 && !isDigit(left, start - 1)) return start - 1;
  while (start > 0 && isDigit(left, start - 1)) start -= 1;
  return start;
}

function endOfRun(text: string, start: number): number {
  const isDigits = isDigit(text, start);
  let end = start + 1;
  while (end < text.length && isDigit(text, end) === isDigits) end += 1;
  return end;
}

function isDigit(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0x30 && code <= 0x39;
}

function compareRuns(left: string, right: string): number {
  if (!isDigit(left, 0) || !isDigit(right, 0)) return compareText(left, right);
  const a = left.replace(/^0+/, '');
  const b = right.replace(/^0+/, '');
  return a.length === b.length ? compareText(a, b) : a.length - b.length;
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

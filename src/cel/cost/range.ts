/** The least and the most that something may be, as 64-bit numbers that do not overflow. */
export interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

export const unsignedMax = 2n ** 64n - 1n;
const twoTo64 = 2 ** 64;

export const zeroRange: Range = { min: 0n, max: 0n };
export const unitRange: Range = { min: 1n, max: 1n };
export const unknownSize: Range = { min: 0n, max: unsignedMax };

export function fixed(value: bigint | number): Range {
  return { min: BigInt(value), max: BigInt(value) };
}

function capped(value: bigint): bigint {
  return value > unsignedMax ? unsignedMax : value;
}

export function multiplyCapped(a: bigint, b: bigint): bigint {
  return capped(a * b);
}

export function addCapped(a: bigint, b: bigint): bigint {
  return capped(a + b);
}

export function addRanges(...ranges: readonly Range[]): Range {
  let { min, max } = zeroRange;
  for (const range of ranges) {
    min = capped(min + range.min);
    max = capped(max + range.max);
  }
  return { min, max };
}

export function multiplyRanges(a: Range, b: Range): Range {
  return { min: multiplyCapped(a.min, b.min), max: multiplyCapped(a.max, b.max) };
}

/** Multiplies by a factor, rounded up, with the precision of doubles. */
export function scale({ min, max }: Range, factor: number): Range {
  return { min: scaleNumber(min, factor), max: scaleNumber(max, factor) };
}

function scaleNumber(value: bigint, factor: number): bigint {
  const product = Math.ceil(Number(value) * factor);
  return product >= twoTo64 ? unsignedMax : BigInt(product);
}

export function union(a: Range, b: Range): Range {
  return { min: a.min < b.min ? a.min : b.min, max: a.max > b.max ? a.max : b.max };
}

/** The range of nothing yet: any union with it is the other range. */
export const emptyUnion: Range = { min: unsignedMax, max: 0n };

/** Keeps the low 64 bits, as unsigned arithmetic does that is not checked. */
export function wrapped(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

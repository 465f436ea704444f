/** Returns the number of bytes of a varint. The value has at most 53 bits and is not negative. */
export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}

/** Writes such a varint and returns the position behind it. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let next = at;
  let rest = value;
  // No shift, which would cut off the bits beyond 32.
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes[next++] = (rest % 0x80) | 0x80;
  bytes[next++] = rest;
  return next;
}

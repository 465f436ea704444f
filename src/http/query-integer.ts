import { status } from "../api/status.ts";
import { type Query, queryValue } from "../request/request-info.ts";

const int64Max = 2n ** 63n - 1n;
/** Length from which a text, without leading zeros, is too long for any int64. */
const digitsMax = 64;

/**
 * Returns a parameter of type int64 without loss; undefined if it is absent.
 * @throws 400 in the words of Go's strconv, also for an empty text
 */
export function queryInteger(query: Query, name: string): number | bigint | undefined {
  if (!query.has(name)) return undefined;
  const text = queryValue(query, name);
  if (!/^[+-]?[0-9]+$/.test(text)) throw refusal(text, "invalid syntax");
  if (text.length > digitsMax) throw refusal(text, "value out of range");
  const value = BigInt(text);
  if (value > int64Max || value < -int64Max - 1n) throw refusal(text, "value out of range");
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function refusal(text: string, why: string): Error {
  return status.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
}

import { constants } from "node:os";

/** First and last signal for real-time programs, as programs see them. */
const realTimeMin = 34;
const realTimeMax = 64;

/** Returns the number of a signal such as SIGTERM or SIGRTMIN+3; that of SIGTERM for one that is not known here. */
export function signalNumber(name: string): number {
  const realTime = /^SIGRT(MIN|MAX)(?:([+-])(\d{1,2}))?$/.exec(name);
  if (realTime !== null) {
    const [, from, sign, distance = "0"] = realTime;
    return (from === "MIN" ? realTimeMin : realTimeMax) + (sign === "-" ? -1 : 1) * Number(distance);
  }
  return (constants.signals as Record<string, number>)[name] ?? constants.signals.SIGTERM;
}

import { readFileSync } from "node:fs";
import { until } from "../until.ts";

/** The last stages of requests. One that fails authentication has only the first of them. */
const answered = /"stage":"(ResponseComplete|ResponseStarted)"/;

/** Returns the event of an answered request, once it is in the log. @throws Error if it does not come */
export async function auditLine(path: string, auditId: string): Promise<string> {
  const find = () =>
    readFileSync(path, "utf8")
      .split("\n")
      .slice(0, -1)
      .find((line) => line.includes(`"auditID":"${auditId}"`) && answered.test(line));
  return (await until(find, (line) => line !== undefined)) as string;
}

import { isJsonObject, type JsonValue } from "../../src/api/json.ts";

/** Returns the code that the specification requires in place of kube-apiserver's. */
export function specifiedCode(code: number, answer: JsonValue): number {
  return isSpecifiedAsBadRequest(answer) ? 400 : code;
}

/** Returns the answer that the specification requires in place of kube-apiserver's. */
export function specifiedAnswer(answer: JsonValue): JsonValue {
  if (!isSpecifiedAsBadRequest(answer) || !isJsonObject(answer)) return answer;
  return { ...answer, reason: "BadRequest", code: 400 };
}

/** Mistakes in the body of a patch and in the options of a list are 400 here but 422 in kube-apiserver. */
function isSpecifiedAsBadRequest(answer: JsonValue): boolean {
  if (!isJsonObject(answer) || answer["code"] !== 422 || !isJsonObject(answer["details"])) return false;
  const { kind, causes } = answer["details"];
  const isPatch = Array.isArray(causes) && causes.some((cause) => isJsonObject(cause) && cause["field"] === "patch");
  return kind === "ListOptions" || isPatch;
}

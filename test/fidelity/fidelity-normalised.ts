import { isJsonObject, type JsonObject, type JsonValue } from "../../src/api/json.ts";
import { normalised } from "../vectors/normalised.ts";

const age = /^(\d+[smhd])+$|^<invalid>$/;
const hostAndPort = /\b\d{1,3}(?:\.\d{1,3}){3}:\d{1,5}\b/g;
const suffix = /^[bcdfghjklmnpqrstvwxz2456789]{5}\b/;
const certificate = /-----BEGIN CERTIFICATE-----[\s\S]*-----END CERTIFICATE-----\n?/;

/**
 * An answer without what differs from run to run, as the recorded ones are: beyond uids and times these are addresses,
 * ages, tokens of pages and generated names.
 * @param generateName of the request, "" for none
 */
export function comparableAnswer(answer: JsonValue, generateName: string): JsonValue {
  if (typeof answer === "string") return plainText(answer);
  const table = isJsonObject(answer) && answer["kind"] === "Table" ? withoutAges(answer) : answer;
  return withoutChance(normalised(table), generateName);
}

function withoutChance(value: JsonValue, generateName: string, key = ""): JsonValue {
  if (Array.isArray(value)) return value.map((item) => withoutChance(item, generateName, key));
  if (isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, withoutChance(item, generateName, name)]),
    );
  }
  if (typeof value !== "string") return value;
  if (key === "continue" && value !== "") return "<continue>";
  if (certificate.test(value)) return value.replace(certificate, "<certificate>");
  return withoutSuffix(value.replace(hostAndPort, "<address>"), generateName);
}

/** A generated name with the place of its suffix marked. Prefixes are cut where the name would be too long. */
function withoutSuffix(text: string, generateName: string): string {
  if (generateName === "") return text;
  const [first = "", ...rest] = text.split(generateName);
  return first + rest.map((part) => generateName + part.replace(suffix, "<random>")).join("");
}

function withoutAges(table: JsonObject): JsonObject {
  const columns = listOf(table["columnDefinitions"]).map(({ description: _prose, ...column }) => column);
  const rows = listOf(table["rows"]).map((row) => ({
    ...row,
    cells: (row["cells"] as JsonValue[]).map((cell, at) =>
      typeof cell === "string" && age.test(cell) && columns[at]?.["name"] !== "Completions" ? "<age>" : cell,
    ),
  }));
  return { ...table, columnDefinitions: columns, rows };
}

function listOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** YAML and other texts. */
function plainText(text: string): string {
  return String(normalised(text))
    .replace(/^(\s*(?:- )?resourceVersion: )"\d+"$/gm, '$1"<rv>"')
    .replace(/^(\s*(?:- )?description: ).*(\n {4,}.*)*$/gm, "$1-")
    .replace(/^(\s*(?:- )?uid: )(?!.*1111-4111).*$/gm, "$1<uid>")
    .replace(hostAndPort, "<address>");
}

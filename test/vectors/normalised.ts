import { isJsonObject, type JsonObject, type JsonValue } from "../../src/api/json.ts";

/**
 * Answers without what differs from run to run: uids, resourceVersions, times of today, allocated addresses and ports,
 * generated names. Fixtures have the same placeholders in these places.
 */
export function normalised(value: JsonValue, key = ""): JsonValue {
  if (Array.isArray(value)) return value.map((item) => normalised(item, key));
  if (!isJsonObject(value)) return typeof value === "string" ? textOf(value, key) : numberOf(value, key);
  const result: JsonObject = {};
  for (const [name, part] of Object.entries(value["kind"] === "Table" ? tableOf(value) : value)) {
    const shown = normalised(part, name);
    result[name] = name === "managedFields" && Array.isArray(shown) ? shown.toSorted(byOwner) : shown;
  }
  return result;
}

/** Returns a Table without the descriptions of its columns, and with a placeholder for each age. */
function tableOf(table: JsonObject): JsonObject {
  const columns = (Array.isArray(table["columnDefinitions"]) ? table["columnDefinitions"] : []).filter(isJsonObject);
  const rows = (Array.isArray(table["rows"]) ? table["rows"] : []).filter(isJsonObject);
  return {
    ...table,
    columnDefinitions: columns.map(({ description: _description, ...column }) => column),
    rows: rows.map((row) => ({ ...row, cells: Array.isArray(row["cells"]) ? row["cells"].map(cellOf) : [] })),
  };
}

function cellOf(cell: JsonValue): JsonValue {
  return typeof cell === "string" && /^(?:[0-9]+[ydhms]){1,2}$/.test(cell) ? "<age>" : cell;
}

/** A document in which the placeholders of what was recorded are the values of this run. */
export function restored(sent: JsonValue, recorded: JsonValue | undefined, here: JsonValue | undefined): JsonValue {
  if (isJsonObject(sent) && isJsonObject(recorded) && isJsonObject(here)) {
    return Object.fromEntries(
      Object.entries(sent).map(([name, part]) => [
        name,
        name === "managedFields" ? part : restored(part, recorded[name], here[name]),
      ]),
    );
  }
  if (Array.isArray(sent) && Array.isArray(recorded) && Array.isArray(here)) {
    const isAlike = sent.length === recorded.length && sent.length === here.length;
    return isAlike ? sent.map((item, at) => restored(item, recorded[at], here[at])) : sent;
  }
  const isPlaceholder = typeof recorded === "string" && /<[a-z]+>/.test(recorded) && here !== undefined;
  return isPlaceholder && (/^<[a-z]+>$/.test(recorded) || textOf(String(sent), "") === recorded) ? here : sent;
}

/** A Status without the order of its causes: the reference finds several of them at random. */
export function comparableStatus(answer: JsonValue): JsonValue {
  if (!isJsonObject(answer) || answer["kind"] !== "Status" || !isJsonObject(answer["details"])) return answer;
  const { causes } = answer["details"];
  if (!Array.isArray(causes) || causes.length < 2) return answer;
  const inOrder = causes.toSorted((a, b) => (JSON.stringify(sortedKeys(a)) < JSON.stringify(sortedKeys(b)) ? -1 : 1));
  return {
    ...answer,
    message: [...String(answer["message"])].toSorted().join(""),
    details: { ...answer["details"], causes: inOrder },
  };
}

/** In answers that are YAML. */
const yamlVersion = /^(\s*resourceVersion: ")[1-9][0-9]*(")$/gm;
const yamlUid = /^(\s*uid: )[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/gm;
const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const time = /\b(\d{4})-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
/** The specs of two pods, whose volumes and times differ from run to run. */
const specDifference = /(pod updates may not change fields other than[^\n]*\n)[^]*$/;
const serviceAddress = /^10\.0\.\d+\.\d+$/;
/** UUIDs of requests. */
const sentUuid = "1111-4111";
const serverManagers: ReadonlySet<string> = new Set([
  "kube-apiserver",
  "kube-controller-manager",
  "clusterrole-aggregation-controller",
  "quorate",
]);

function textOf(text: string, key: string): string {
  if (key === "resourceVersion" && /^[1-9]\d*$/.test(text)) return "<rv>";
  if (key === "uid" && text.length === 36 && !text.includes(sentUuid)) return "<uid>";
  if ((key === "clusterIP" || key === "clusterIPs") && serviceAddress.test(text)) return "<ip>";
  if (key === "manager" && serverManagers.has(text)) return "<server>";
  const year = new Date().getUTCFullYear();
  return text
    .replace(yamlVersion, "$1<rv>$2")
    .replace(yamlUid, "$1<uid>")
    .replace(uuid, (found) => (found.includes(sentUuid) ? found : "<uuid>"))
    .replace(time, (found, then: string) => (Math.abs(Number(then) - year) < 2 ? "<time>" : found))
    .replace(specDifference, "$1<difference>")
    .replace(/kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}/g, "kube-api-access-<random>");
}

function numberOf(value: JsonValue, key: string): JsonValue {
  const isPort = key === "nodePort" || key === "healthCheckNodePort";
  return isPort && typeof value === "number" && value >= 30_000 && value <= 32_767 ? "<port>" : value;
}

function byOwner(a: JsonValue, b: JsonValue): number {
  return ownerText(a) < ownerText(b) ? -1 : 1;
}

function ownerText(entry: JsonValue): string {
  const owner = isJsonObject(entry) ? entry : {};
  return JSON.stringify(["operation", "manager", "subresource", "apiVersion"].map((name) => owner[name] ?? ""));
}

function sortedKeys(value: JsonValue): JsonValue {
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}

import { isJsonObject, type JsonObject, type JsonValue } from "../../src/api/json.ts";

/**
 * Returns answers without the parts that differ between runs: uids, resourceVersions, today's times, allocated addresses
 * and ports, generated names. Fixtures have the same placeholders in these places.
 */
export function normalised(value: JsonValue, key = ""): JsonValue {
  if (Array.isArray(value)) return value.map((item) => normalised(item, key));
  if (!isJsonObject(value)) return typeof value === "string" ? textOf(value, key) : numberOf(value, key);
  const result: JsonObject = {};
  for (const [name, part] of Object.entries(value)) {
    const shown = normalised(part, name);
    const place = name.replace(generatedVolume, shownVolume);
    result[place] = Array.isArray(shown) ? inSomeOrder(name, shown) : shown;
  }
  const { username } = value;
  return typeof username === "string" && administrators.has(username) ? withoutCredentials(result) : result;
}

/** Sorts a list whose order means nothing. */
function inSomeOrder(name: string, list: JsonValue[]): JsonValue[] {
  if (name === "managedFields") return list.toSorted(byOwner);
  const isAnyOrder = name === "resourceRules" || name === "nonResourceRules";
  return isAnyOrder ? list.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : list;
}

/** An administrator, without the parts that depend on the way of authentication. */
function withoutCredentials({ uid: _uid, extra: _extra, ...user }: JsonObject): JsonObject {
  return user;
}

/** Returns a document in which values of this run replace the placeholders of the recording. */
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

/** Returns a table with ages as recorded, and without descriptions of its columns if the record has none. */
export function recordedTable(here: JsonValue, recorded: JsonValue): JsonValue {
  if (!isJsonObject(here) || !isJsonObject(recorded) || here["kind"] !== "Table") return here;
  const columns = listOf(recorded["columnDefinitions"]);
  const rows = listOf(recorded["rows"]);
  return {
    ...here,
    columnDefinitions: listOf(here["columnDefinitions"]).map((column, at) => {
      const other = columns[at];
      if (!isJsonObject(column) || !isJsonObject(other) || other["description"] !== undefined) return column;
      const { description: _text, ...rest } = column;
      return rest;
    }),
    rows: listOf(here["rows"]).map((row, at) => {
      const other = rows[at];
      if (!isJsonObject(row) || !isJsonObject(other)) return row;
      const recordedCells = listOf(other["cells"]);
      const isAge = (cell: JsonValue, column: number) => recordedCells[column] === "<age>" && age.test(String(cell));
      return { ...row, cells: listOf(row["cells"]).map((cell, column) => (isAge(cell, column) ? "<age>" : cell)) };
    }),
  };
}

/**
 * Returns an answer with placeholders for addresses and ports that the server chose at random. They may fall into the
 * ranges that requests name explicitly, so only the recording tells which ones were chosen.
 */
export function withoutChosen(here: JsonValue, recorded: JsonValue | undefined): JsonValue {
  if (recorded === "<port>" && typeof here === "number" && isNodePort(here)) return recorded;
  if (recorded === "<ip>" && typeof here === "string" && serviceRange.test(here)) return recorded;
  if (Array.isArray(here) && Array.isArray(recorded)) return here.map((item, at) => withoutChosen(item, recorded[at]));
  if (!isJsonObject(here) || !isJsonObject(recorded)) return here;
  return Object.fromEntries(Object.entries(here).map(([name, part]) => [name, withoutChosen(part, recorded[name])]));
}

/** Returns a YAML text with the managers of fields in a fixed order. */
export function yamlInOrder(text: string): string {
  return text.replace(/(\n {2}managedFields:\n)((?: {2}- .*\n| {4}.*\n)+)/g, (_all, head: string, entries: string) => {
    const blocks = entries.match(/ {2}- .*\n(?: {4}.*\n)*/g) ?? [];
    return head + blocks.toSorted().join("");
  });
}

const age = /^\d+[smhd]/;

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Returns a Status without the order of its causes, which is random in the reference, and without the numbers that it
 * invents for the types of rules.
 */
export function comparableStatus(status: JsonValue): JsonValue {
  if (!isJsonObject(status) || status["kind"] !== "Status" || !isJsonObject(status["details"])) return status;
  const answer = withoutTypeNumbers(status) as JsonObject & { details: JsonObject };
  const { causes } = answer["details"];
  if (!Array.isArray(causes) || causes.length < 2) return answer;
  const inOrder = causes.toSorted((a, b) => (JSON.stringify(sortedKeys(a)) < JSON.stringify(sortedKeys(b)) ? -1 : 1));
  return {
    ...answer,
    message: [...String(answer["message"])].toSorted().join(""),
    details: { ...answer["details"], causes: inOrder },
  };
}

function withoutTypeNumbers(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.replace(/selfType\d+/g, "selfType");
  if (Array.isArray(value)) return value.map(withoutTypeNumbers);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withoutTypeNumbers(part)]));
}

const generatedVolume = /kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}/g;
const shownVolume = "kube-api-access-<random>";
const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
/** Minimum length of tokens to replace. Requests contain shorter ones. */
const tokenLengthMin = 40;
/** An object that is part of a message. */
const quotedRevision = /(resourceVersion\\*":\s*\\*")\d+/g;
const quotedAddress = /(clusterIPs?\\*":\s*\[?\\*")10\.0\.\d+\.\d+/g;
const quotedPort = /(odePort\\*":\s*)3\d{4}/g;
/** Lines of an answer in YAML. */
const yamlRevision = /^( *resourceVersion: )"[1-9]\d*"$/gm;
const yamlUid = /^( *uid: )[0-9a-f-]{36}$/gm;
const time = /\b(\d{4})-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
/** The specs of two pods, whose volumes and times differ between runs. */
const specDifference = /(pod updates may not change fields other than[^\n]*\n)[^]*$/;
const serviceRange = /^10\.0\.\d+\.\d+$/;
/** Requests name addresses in 10.0.77.x explicitly. */
const serviceAddress = /^10\.0\.(?!0\.1$)(?!77\.)\d+\.\d+$/;
/** Times as Go prints them. */
const goTime = /\b(\d{4})-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?(?: [+-]\d{4})? [A-Z]+(?: m=[+-][\d.]+)?/g;
const localAddress = /127\.0\.0\.1:\d{4,5}|192\.0\.2\.1:\d{4,5}/g;
/** Lines of descriptions in YAML, and their continuation lines. */
const yamlDescription = /^( *(?:- )?description: ).*(?:\n+ {4,}.*)*$/gm;
/** UUIDs of requests. */
const sentUuid = "1111-4111";
const serverManagers: ReadonlySet<string> = new Set([
  "kube-apiserver",
  "kube-controller-manager",
  "clusterrole-aggregation-controller",
  "quorate",
]);

const administrators: ReadonlySet<string> = new Set(["admin", "kubernetes-admin", "<admin>"]);

function textOf(text: string, key: string): string {
  if (key === "resourceVersion" && /^[1-9]\d*$/.test(text)) return "<rv>";
  if (key === "continue" && text !== "") return "<continue>";
  if (key === "token" && text.length > tokenLengthMin) return "<token>";
  if (key === "uid" && text.length === 36 && !text.includes(sentUuid)) return "<uid>";
  if ((key === "clusterIP" || key === "clusterIPs") && serviceAddress.test(text)) return "<ip>";
  if (key === "manager" && serverManagers.has(text)) return "<server>";
  if (key === "username" && administrators.has(text)) return "<admin>";
  if (key === "expirationTimestamp") return "<time>";
  const year = new Date().getUTCFullYear();
  return text
    .replace(yamlRevision, '$1"<rv>"')
    .replace(quotedRevision, "$1<rv>")
    .replace(quotedAddress, "$1<ip>")
    .replace(quotedPort, "$1<port>")
    .replace(yamlUid, "$1<uid>")
    .replace(yamlDescription, "$1-")
    .replace(uuid, (found) => (found.includes(sentUuid) ? found : "<uuid>"))
    .replace(time, (found, then: string) => (Math.abs(Number(then) - year) < 2 ? "<time>" : found))
    .replace(goTime, (found, then: string) => (Math.abs(Number(then) - year) < 2 ? "<time>" : found))
    .replace(localAddress, "<address>")
    .replace(/X509SHA256=[0-9a-f]{64}/g, "X509SHA256=<credential>")
    .replace(/in record \(\d+\)/g, "in record (<rv>)")
    .replace(/0x[0-9a-f]{6,}/g, "<pointer>")
    .replace(specDifference, "$1<difference>")
    .replace(generatedVolume, shownVolume);
}

function numberOf(value: JsonValue, key: string): JsonValue {
  const isPort = key === "nodePort" || key === "healthCheckNodePort";
  // Requests name ports from 32600 to 32650 explicitly.
  const isAllocated = typeof value === "number" && isNodePort(value) && (value < 32_600 || value > 32_650);
  return isPort && isAllocated ? "<port>" : value;
}

function isNodePort(value: number): boolean {
  return value >= 30_000 && value <= 32_767;
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

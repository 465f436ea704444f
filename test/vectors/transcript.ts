import { isJsonObject, type JsonObject, type JsonValue } from "../../src/api/json.ts";
import { objectOf, objectsOf, textOf } from "../../src/api/json-reading.ts";

/** One request of a transcript, and the reference's answer. */
export interface Step {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly code: number;
  readonly contentType?: string;
  readonly warnings?: readonly string[];
  readonly answer: JsonValue;
  /** Whether the answer is an extract of a document. Otherwise it is complete. */
  readonly isExtract?: boolean;
  /** Whether the request was repeated until it gave this answer. */
  readonly isRepeated?: boolean;
  /** Values of the answer that later requests name as `{{name}}`. */
  readonly save?: Readonly<Record<string, string>>;
  /** Reviews that the webhook received during the request, if there was one. */
  readonly reviews?: readonly JsonObject[];
}
/** The form in which transcripts are recorded. */
interface RecordedStep {
  readonly request: Pick<Step, "method" | "target" | "headers" | "body">;
  readonly response: {
    readonly status: number;
    readonly headers: { readonly "Content-Type"?: string; readonly Warning?: readonly string[] };
    readonly body: JsonValue;
    readonly form: "json" | "stream" | "text" | "binary" | "part";
  };
  readonly save?: Step["save"];
  readonly repeat?: JsonValue;
  readonly reviews?: readonly JsonObject[];
}
export interface Transcript {
  readonly title: string;
  readonly topic?: string;
  /** The namespace, which exists beforehand; absent or null for cluster-scoped objects. */
  readonly namespace?: string | null;
  readonly steps: readonly (Step | RecordedStep)[];
}

const recordedUserAgent = "difftest/1.0";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

export function stepOf(recorded: Step | RecordedStep): Step {
  if (!("request" in recorded)) return recorded;
  const { request, response, save, repeat, reviews } = recorded;
  const { method, target, body, headers } = request;
  const { status: code, body: answer, form } = response;
  const contentType = response.headers["Content-Type"];
  return {
    method,
    target,
    headers: { "user-agent": recordedUserAgent, ...lowerCase(headers) },
    ...(body === undefined ? {} : { body }),
    code,
    ...(contentType === undefined ? {} : { contentType }),
    ...(response.headers.Warning === undefined ? {} : { warnings: response.headers.Warning }),
    answer,
    isExtract: form === "part",
    isRepeated: repeat !== undefined,
    ...(save === undefined ? {} : { save }),
    ...(reviews === undefined ? {} : { reviews }),
  };
}

/** Reports whether webhooks of the transcript are called. It has a namespace then. */
export function callsWebhooks({ topic, namespace }: Transcript): boolean {
  return topic === "webhook" && Boolean(namespace);
}

/** Reports whether an active policy has parameters. The reference may notice new ones late. */
export function hasLateParameters({ topic, namespace, steps: [first] }: Transcript): boolean {
  return (
    topic === "policy" && Boolean(namespace) && first !== undefined && /"paramKind"/.test(stepOf(first).body ?? "")
  );
}

/** Returns the plural name of the kind that a transcript defines. */
export function definedPlural(steps: readonly Step[]): string | undefined {
  const definition = steps.find(({ method, target }) => method === "POST" && target === definitions);
  if (definition?.body === undefined) return undefined;
  const { spec } = JSON.parse(definition.body) as JsonObject;
  return textOf(objectOf(objectOf(spec)["names"])["plural"]);
}

/** Returns the discovery of a group with the resources of one kind, because other transcripts defined kinds in it too. */
export function discoveryOf(plural: string, answer: JsonValue): JsonValue {
  if (!isJsonObject(answer) || answer["resources"] === undefined) return answer;
  const resources = objectsOf(answer["resources"]).filter(({ name }) => textOf(name).split("/")[0] === plural);
  return { ...answer, resources };
}

const schemasKey = "components.schemas of the kind";
const pathsKey = "paths of the kind";
const operationFields = ["operationId", "x-kubernetes-action", "x-kubernetes-group-version-kind", "tags"];

/** Returns the parts of an OpenAPI document that are in the recorded extract. */
export function openApiExtract(document: JsonValue, recorded: JsonValue): JsonValue {
  const { components, paths } = objectOf(document);
  const [name = ""] = Object.keys(objectOf(objectOf(recorded)[schemasKey]));
  const suffix = `.${name.slice(name.lastIndexOf(".") + 1)}`;
  const plurals = Object.keys(objectOf(objectOf(recorded)[pathsKey])).map((path) => {
    const ofCollection = path.replace(/\/\{name\}.*/, "");
    return ofCollection.slice(ofCollection.lastIndexOf("/") + 1);
  });
  const plural = plurals.toSorted((a, b) => a.length - b.length)[0] ?? "?";
  return {
    [schemasKey]: pick(objectOf(objectOf(components)["schemas"]), (key) => key.endsWith(suffix)),
    [pathsKey]: Object.fromEntries(
      Object.entries(pick(objectOf(paths), (path) => path.includes(plural))).map(([path, operations]) => [
        path,
        Object.fromEntries(
          Object.entries(objectOf(operations))
            .filter(([, operation]) => isJsonObject(operation))
            .map(([method, operation]) => [method, pick(objectOf(operation), (key) => operationFields.includes(key))]),
        ),
      ]),
    ),
  };
}

function pick(object: JsonObject, isWanted: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => isWanted(key)));
}

function lowerCase(headers: Step["headers"]): Step["headers"] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

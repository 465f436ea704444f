import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cloneJson, equalJson, isJsonObject, type JsonObject, type JsonValue } from "../../src/api/json.ts";
import type { ManagedFieldsEntry } from "../../src/api/object-meta.ts";
import { decodeTyped } from "../../src/api/schema/decode.ts";
import type { StructSchema } from "../../src/api/schema/schema.ts";
import { structOf } from "../../src/api/scheme/object-form.ts";
import { formatTime } from "../../src/api/time.ts";
import { applyObject, BadApplyError } from "../../src/apply/apply-object.ts";
import { excludingFields } from "../../src/apply/field-filter.ts";
import { FieldSet } from "../../src/apply/field-set.ts";
import { kindText, objectText } from "../../src/apply/object-text.ts";
import { fieldElement } from "../../src/apply/path-element.ts";
import { schemaType } from "../../src/apply/schema-type.ts";
import { structuralType } from "../../src/apply/structural-type.ts";
import { trackUpdate } from "../../src/apply/track-update.ts";
import { TrackingError } from "../../src/apply/tracking-error.ts";
import {
  type ConversionReply,
  type ConversionRequest,
  runSteps,
  type TrackedVersion,
} from "../../src/apply/versions.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import type { Replay } from "./replay.ts";

/** One request of a case, and its result. */
interface Step {
  readonly op: "seed" | "create" | "update" | "apply";
  readonly manager: string;
  readonly force?: boolean;
  readonly subresource?: string;
  readonly object: JsonObject;
  readonly result?: JsonObject;
  readonly managedFields?: JsonValue;
  readonly error?: StepError;
}
interface StepError {
  readonly reason?: string;
  readonly code?: number;
  readonly message: string;
  readonly causes?: readonly JsonObject[];
}

/** A kind of the cases: its versions, and the conversion of a document to its stored form. */
interface Kind {
  readonly types: ReadonlyMap<string, TrackedVersion>;
  readonly schema: StructSchema | undefined;
}

const firstStepMs = Date.UTC(2024, 0, 1);
const minuteMs = 60_000;
const builtIns = [
  { group: "", version: "v1", kind: "ConfigMap" },
  { group: "", version: "v1", kind: "Service" },
  { group: "", version: "v1", kind: "Pod" },
  { group: "apps", version: "v1", kind: "Deployment" },
];
/** Fields that writes through an endpoint neither change nor own. */
const resetFields: Readonly<Record<string, readonly string[]>> = {
  Deployment: ["spec", "metadata.labels"],
  Pod: ["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"],
  Service: ["spec"],
  Widget: ["spec", "metadata"],
  Gadget: ["spec", "metadata"],
};

/** Cases of server-side apply: each a sequence of requests to one object. Custom kinds are defined in `crds.json`. */
export function replayApply(directory: string): Replay {
  const kinds = new Map([...builtInKinds(), ...customKinds(join(directory, "crds.json"))]);
  return (recorded) => {
    const kind = kinds.get(String(recorded["kind"]));
    if (kind === undefined) return `${String(recorded["name"])}: no kind ${String(recorded["kind"])}`;
    const object = new ReplayedObject(kind);
    for (const [at, step] of (recorded["steps"] as unknown as Step[]).entries()) {
      const difference = object.differs(step, at);
      if (difference !== undefined) return `${String(recorded["name"])} step ${at}: ${difference}`;
    }
    return undefined;
  };
}

function builtInKinds(): [string, Kind][] {
  const scheme = Scheme.builtIn();
  return builtIns.map((gvk) => {
    const info = scheme.findKind(gvk);
    if (info === undefined) throw new Error(`no kind ${gvk.kind}`);
    const schema = structOf(info);
    const apiVersion = gvk.group === "" ? gvk.version : `${gvk.group}/${gvk.version}`;
    const { object: empty } = decodeTyped(schema, { apiVersion, kind: gvk.kind }, { kind: gvk.kind });
    return [
      gvk.kind,
      { schema, types: new Map([[apiVersion, { apiVersion, type: schemaType(schema), empty, isDecoded: true }]]) },
    ];
  });
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: JsonObject } }[];
  };
}

function customKinds(path: string): [string, Kind][] {
  const metadata = schemaType(Scheme.builtIn().typeSchema("meta/v1.ObjectMeta"));
  const definitions = JSON.parse(readFileSync(path, "utf8")) as Definition[];
  return definitions.map(({ spec: { group, names, versions } }) => {
    const types = versions.map(({ name, schema }): [string, TrackedVersion] => {
      const apiVersion = `${group}/${name}`;
      const type = structuralType(schema.openAPIV3Schema, metadata);
      return [apiVersion, { apiVersion, type, empty: { apiVersion, kind: names.kind }, isDecoded: false }];
    });
    return [names.kind, { schema: undefined, types: new Map(types) }];
  });
}

/** The object of one case, in the form of the server. */
class ReplayedObject {
  readonly #kind: Kind;
  #stored: JsonObject | undefined;

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  /** Runs a step, and returns the difference between its outcome and the recorded one. */
  differs(step: Step, at: number): string | undefined {
    const error = this.#attempt(step, formatTime(firstStepMs + (at + 1) * minuteMs));
    if (error !== undefined || step.error !== undefined) {
      return difference("error", comparable(step.error), comparable(error));
    }
    const apiVersion = String(step.object["apiVersion"]);
    const { managedFields, object } = split(inVersion(this.#stored as JsonObject, apiVersion));
    return difference("object", step.result, object) ?? difference("managedFields", step.managedFields, managedFields);
  }

  #attempt(step: Step, now: string): StepError | undefined {
    try {
      return this.#run(step, now);
    } catch (error) {
      if (error instanceof BadApplyError) return { reason: "BadRequest", code: 400, message: error.message };
      if (error instanceof TrackingError) return { message: error.message };
      throw error;
    }
  }

  #run(step: Step, now: string): StepError | undefined {
    const apiVersion = String(step.object["apiVersion"]);
    const version = this.#version(apiVersion, step);
    if (version === undefined) {
      const subject = `${objectText(step.object)}): no corresponding type for ${kindText(step.object)}`;
      return { message: `failed to create typed patch object (${subject}` };
    }
    const live = this.#stored && inVersion(this.#stored, apiVersion);
    if (step.op === "seed") {
      this.#store(this.#decode(step.object), undefined);
      return undefined;
    }
    const find = (other: string) => this.#version(other, step);
    const { manager, subresource = "", force = false } = step;
    if (step.op === "apply") {
      const kind = String(step.object["kind"]);
      const outcome = runSteps(
        applyObject({
          live,
          applied: step.object,
          kind,
          manager,
          subresource,
          force,
          version,
          find,
          now,
          emptied: "null",
        }),
        convert,
      );
      if (outcome.kind === "conflict") {
        return {
          reason: "Conflict",
          code: 409,
          message: outcome.message,
          causes: outcome.causes as unknown as JsonObject[],
        };
      }
      const object = outcome.object === undefined ? (live ?? version.empty) : this.#decode(outcome.object);
      this.#store(this.#withoutReset(object, live, step), outcome.managedFields);
      return undefined;
    }
    const { managedFields: sent } = split(step.object);
    const object = this.#decode(step.object);
    const update = {
      live: step.op === "create" ? undefined : live,
      object,
      sent,
      manager,
      subresource,
      version,
      find,
      now,
    };
    this.#store(this.#withoutReset(object, live, step), runSteps(trackUpdate(update), convert));
    return undefined;
  }

  #version(apiVersion: string, { object, subresource }: Step): TrackedVersion | undefined {
    const version = this.#kind.types.get(apiVersion);
    // For a custom kind, upstream knows only the fields in the version of the request.
    if (this.#kind.schema === undefined && apiVersion !== object["apiVersion"]) return version;
    const names = resetNames(String(object["kind"]), subresource);
    const excluded = FieldSet.of(...names.map((name) => name.split(".").map(fieldElement)));
    return version && { ...version, resetFields: excludingFields(excluded) };
  }

  #decode(object: JsonObject): JsonObject {
    const { schema } = this.#kind;
    return schema === undefined ? cloneJson(object) : decodeTyped(schema, object, { kind: "Object" }).object;
  }

  /** Returns the object, with unchanged values in the fields that its endpoint does not write. */
  #withoutReset(object: JsonObject, live: JsonObject | undefined, step: Step): JsonObject {
    const result = cloneJson(split(object).object);
    const old = live === undefined ? {} : split(live).object;
    for (const name of resetNames(String(step.object["kind"]), step.subresource)) {
      const path = name.split(".");
      const field = path.pop() as string;
      const [target, source] = [path.reduce(descend, result), path.reduce(descend, old)];
      if (Object.hasOwn(source, field)) target[field] = source[field] as JsonValue;
      else delete target[field];
    }
    return this.#decode(result);
  }

  #store(object: JsonObject, managedFields: ManagedFieldsEntry[] | undefined): void {
    const stored = cloneJson(object);
    const metadata = isJsonObject(stored["metadata"]) ? stored["metadata"] : {};
    delete metadata["managedFields"];
    stored["metadata"] = {
      ...metadata,
      ...(this.#stored === undefined ? { uid: "uid-1" } : {}),
      ...(managedFields === undefined ? {} : { managedFields: cloneJson<JsonValue>(managedFields) }),
    };
    this.#stored = stored;
  }
}

function resetNames(kind: string, subresource: string | undefined): readonly string[] {
  return subresource === "status" ? (resetFields[kind] ?? []) : ["status"];
}

function descend(object: JsonObject, name: string): JsonObject {
  const below = object[name];
  return isJsonObject(below) ? below : {};
}

function inVersion(object: JsonObject, apiVersion: string): JsonObject {
  return { ...object, apiVersion };
}

function convert({ object, to }: ConversionRequest): ConversionReply {
  return { object: inVersion(object, to.apiVersion) };
}

function split(object: JsonObject): { readonly object: JsonObject; readonly managedFields: JsonValue | undefined } {
  const metadata = object["metadata"];
  if (!isJsonObject(metadata)) return { object, managedFields: undefined };
  const { managedFields, ...others } = metadata;
  return { object: { ...object, metadata: others }, managedFields };
}

/** Upstream finds several problems of one body in no particular order, and the causes of several owners too. */
function comparable(error: StepError | undefined): JsonValue | undefined {
  if (error === undefined) return undefined;
  const { reason = null, code = null, message, causes = [] } = error;
  const lines = message.includes(": errors:\n") ? message.split("\n").toSorted() : [message];
  const byMessage = causes.toSorted((a, b) => (String(a["message"]) < String(b["message"]) ? -1 : 1));
  return { reason, code, lines, causes: byMessage };
}

function difference(what: string, expected: JsonValue | undefined, actual: JsonValue | undefined): string | undefined {
  if (equalJson(expected, actual)) return undefined;
  return `${what}\n  expected ${JSON.stringify(expected)}\n  actual   ${JSON.stringify(actual)}`;
}

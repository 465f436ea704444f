import { formatTime } from "../api/time.ts";
import { apiVersionOf } from "../api/gvk.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject, ManagedFieldsEntry } from "../api/object-meta.ts";
import { type ApplyOutcome, applyObject } from "../apply/apply-object.ts";
import { formType } from "../apply/form-type.ts";
import { trackUpdate } from "../apply/track-update.ts";
import { TrackingError } from "../apply/tracking-error.ts";
import { type ConversionReply, type ConversionRequest, type FieldFilter, runSteps, type TrackedVersion } from "../apply/versions.ts";
import { fromStorage, toStorage } from "../api/scheme/conversion/convert.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { DecodeTypeError } from "../api/schema/decode-error.ts";

/** A writer and the path of its write. */
export interface FieldWriter {
  readonly manager: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** The version that the writer uses: its fields are the ones that are owned. */
  readonly version: ResourceInfo;
  readonly nowMs: number;
}

/** Says who owns which fields of an object once it is written. Both objects are in their stored form. */
export type FieldTracker = (live: KubeObject | undefined, object: KubeObject) => ManagedFieldsEntry[] | undefined;

/** For objects whose maker has tracked the fields already. */
export const alreadyTracked: FieldTracker = (_live, object) => object.metadata.managedFields;

/** The fields that a write through the main path or a subresource cannot change; undefined when it can change all. */
export type FieldFilterFinder = (subresource: string) => FieldFilter | undefined;

/** Keeps the managedFields of one kind, in all of its versions. */
export class FieldOwnership {
  readonly #versions: readonly ResourceInfo[];
  readonly #filterOf: FieldFilterFinder;
  /** Served versions by `<subresource>/<apiVersion>`: as many as there are writing paths. */
  readonly #tracked = new Map<string, TrackedVersion>();

  constructor(versions: readonly ResourceInfo[], filterOf: FieldFilterFinder) {
    this.#versions = versions;
    this.#filterOf = filterOf;
  }

  /**
   * The managedFields after any write but an apply. Those of `object` are the ones that the writer has sent. A failure
   * fails no write: the object has none then.
   */
  afterUpdate(live: KubeObject | undefined, object: KubeObject, writer: FieldWriter): ManagedFieldsEntry[] | undefined {
    const { manager, subresource, version, nowMs } = writer;
    const update = {
      live: live && inVersion(live, version),
      object: inVersion(object, version),
      sent: object.metadata.managedFields,
      manager,
      subresource,
      version: this.#trackedVersion(version, subresource),
      find: this.#finder(subresource),
      now: formatTime(nowMs),
    };
    try {
      return runSteps(trackUpdate(update), this.#convert);
    } catch (error) {
      if (!(error instanceof TrackingError)) throw error;
      return undefined;
    }
  }

  /**
   * Returns the outcome of an apply. Documents are in the version of the writer.
   * @throws BadApplyError
   * @throws TrackingError
   */
  apply(
    live: KubeObject | undefined,
    applied: JsonObject,
    { manager, subresource, version, nowMs, force }: FieldWriter & { readonly force: boolean },
  ): ApplyOutcome {
    const steps = applyObject({
      live: live as unknown as JsonObject | undefined,
      applied,
      kind: version.kind,
      manager,
      subresource,
      force,
      version: this.#trackedVersion(version, subresource),
      find: this.#finder(subresource),
      now: formatTime(nowMs),
      emptied: "empty",
    });
    return runSteps(steps, this.#convert);
  }

  #finder(subresource: string): (apiVersion: string) => TrackedVersion | undefined {
    return (apiVersion) => {
      const info = this.#infoOf(apiVersion);
      return info && this.#trackedVersion(info, subresource);
    };
  }

  #infoOf(apiVersion: string): ResourceInfo | undefined {
    return this.#versions.find((info) => apiVersionOf(info) === apiVersion);
  }

  #trackedVersion(info: ResourceInfo, subresource: string): TrackedVersion {
    const apiVersion = apiVersionOf(info);
    const key = `${subresource}/${apiVersion}`;
    let tracked = this.#tracked.get(key);
    if (tracked === undefined) {
      const resetFields = this.#filterOf(subresource);
      tracked = {
        apiVersion,
        type: formType(info.form),
        empty: info.form.decode({ apiVersion, kind: info.kind }, { kind: info.kind }).object,
        isDecoded: info.form.kind === "struct",
        ...(resetFields === undefined ? {} : { resetFields }),
      };
      this.#tracked.set(key, tracked);
    }
    return tracked;
  }

  readonly #convert = ({ object, from, to }: ConversionRequest): ConversionReply => {
    const [source, target] = [this.#infoOf(from.apiVersion), this.#infoOf(to.apiVersion)];
    if (target === undefined) return { error: `no version ${to.apiVersion} is served` };
    try {
      const stored = source === undefined ? object : storedForm(object, source);
      return { object: inVersion(stored as unknown as KubeObject, target) };
    } catch (error) {
      if (error instanceof DecodeTypeError) return { error: error.message };
      throw error;
    }
  };
}

/** Returns the ownership of documents that are not stored and have one version: reviews, Scales. */
export function ownershipOfDocument({ storedAs: _storedAs, ...info }: ResourceInfo): FieldOwnership {
  return new FieldOwnership([info], () => undefined);
}

function inVersion(object: KubeObject, version: ResourceInfo): JsonObject {
  return fromStorage(object, version) as unknown as JsonObject;
}

/** A document may be the result of a merge, which no type has decoded yet. */
function storedForm(document: JsonObject, info: ResourceInfo): JsonObject {
  const { object } = info.form.decode(document, { kind: info.kind });
  return toStorage({ ...object, kind: info.kind } as unknown as KubeObject, info) as unknown as JsonObject;
}

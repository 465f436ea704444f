import { apiVersionOf } from "../api/gvk.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject, ManagedFieldsEntry } from "../api/object-meta.ts";
import { DecodeTypeError } from "../api/schema/decode-error.ts";
import { inServedVersion, inStoredVersion } from "../api/scheme/conversion/convert.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { StatusError } from "../api/status.ts";
import { formatTime } from "../api/time.ts";
import { type ApplyOutcome, applyObject } from "../apply/apply-object.ts";
import { formType } from "../apply/form-type.ts";
import { trackCreation, trackUpdate } from "../apply/track-update.ts";
import { TrackingError } from "../apply/tracking-error.ts";
import {
  type ConversionReply,
  type ConversionRequest,
  type FieldFilter,
  runStepsEventually,
  type TrackedVersion,
} from "../apply/versions.ts";
import { type Eventual, followedBy } from "../process/eventual.ts";

/** A writer and the path of its write. */
export interface FieldWriter {
  readonly manager: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** Version that the writer uses, to whose fields the ownership refers. */
  readonly version: ResourceInfo;
  readonly nowMs: number;
}

/** Returns the owners of an object's fields after a write. Both objects are in their stored form. */
export type FieldTracker = (
  live: KubeObject | undefined,
  object: KubeObject,
) => Eventual<ManagedFieldsEntry[] | undefined>;

/** A tracker for objects whose fields have already been tracked. */
export const alreadyTracked: FieldTracker = (_live, object) => object.metadata.managedFields;

/** Returns the fields that a write through a path cannot change; undefined if it can change all. */
export type FieldFilterFinder = (subresource: string) => FieldFilter | undefined;

/** Maintains the managedFields of one kind, in all of its versions. */
export class FieldOwnership {
  readonly #versions: readonly ResourceInfo[];
  readonly #filterOf: FieldFilterFinder;
  /** Versions by subresource: at most one for each path that can be written. */
  readonly #tracked = new Map<string, WeakMap<ResourceInfo, TrackedVersion>>();

  constructor(versions: readonly ResourceInfo[], filterOf: FieldFilterFinder) {
    this.#versions = versions;
    this.#filterOf = filterOf;
  }

  /** Reads the type of a version if no write has needed it before. That of a large schema takes milliseconds. */
  prepare(version: ResourceInfo, subresource: string): void {
    this.#trackedVersion(version, subresource);
  }

  /**
   * Returns the managedFields after any write but an apply. Those of `object` are the ones that the writer has sent. A
   * failure does not fail the write; the object then has no managedFields.
   */
  afterUpdate(
    live: KubeObject | undefined,
    object: KubeObject,
    writer: FieldWriter,
  ): Eventual<ManagedFieldsEntry[] | undefined> {
    const before = live && inVersion(live, writer.version);
    const after = inVersion(object, writer.version);
    if (!(before instanceof Promise || after instanceof Promise)) return this.#track(before, after, object, writer);
    return Promise.all([before, after]).then(([old, served]) => this.#track(old, served, object, writer));
  }

  #track(
    live: JsonObject | undefined,
    served: JsonObject,
    object: KubeObject,
    { manager, subresource, version, nowMs }: FieldWriter,
  ): Eventual<ManagedFieldsEntry[] | undefined> {
    const sent = object.metadata.managedFields;
    const write = {
      object: served,
      manager,
      subresource,
      version: this.#trackedVersion(version, subresource),
      now: formatTime(nowMs),
    };
    try {
      const isNew = live === undefined && sent === undefined;
      const find = this.#finder(subresource);
      const steps = isNew ? trackCreation(write) : trackUpdate({ ...write, live, sent, find });
      const tracked = runStepsEventually(steps, this.#convert);
      return tracked instanceof Promise ? tracked.catch(untracked) : tracked;
    } catch (error) {
      return untracked(error);
    }
  }

  /**
   * Applies a document. Documents are in the version of the writer.
   * @throws BadApplyError
   * @throws TrackingError
   */
  async apply(
    live: KubeObject | undefined,
    applied: JsonObject,
    { manager, subresource, version, nowMs, force }: FieldWriter & { readonly force: boolean },
  ): Promise<ApplyOutcome> {
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
    return runStepsEventually(steps, this.#convert);
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
    let versions = this.#tracked.get(subresource);
    if (versions === undefined) this.#tracked.set(subresource, (versions = new WeakMap()));
    let tracked = versions.get(info);
    if (tracked === undefined) {
      const apiVersion = apiVersionOf(info);
      const resetFields = this.#filterOf(subresource);
      tracked = {
        apiVersion,
        type: formType(info.form),
        empty: info.form.decode({ apiVersion, kind: info.kind }, { kind: info.kind }).object,
        isDecoded: info.form.kind === "struct",
        ...(resetFields === undefined ? {} : { resetFields }),
      };
      versions.set(info, tracked);
    }
    return tracked;
  }

  readonly #convert = ({ object, from, to }: ConversionRequest): Eventual<ConversionReply> => {
    const [source, target] = [this.#infoOf(from.apiVersion), this.#infoOf(to.apiVersion)];
    if (target === undefined) return { error: `no version ${to.apiVersion} is served` };
    try {
      const stored = source === undefined ? object : storedForm(object, source);
      const reply = followedBy(stored, (form) =>
        followedBy(inVersion(form as unknown as KubeObject, target), (converted) => ({ object: converted })),
      );
      return reply instanceof Promise ? reply.catch(notConverted) : reply;
    } catch (error) {
      return notConverted(error);
    }
  };
}

/** Returns the ownership of documents that are not stored and have one version, such as reviews and Scales. */
export function ownershipOfDocument({ storedAs: _storedAs, ...info }: ResourceInfo): FieldOwnership {
  return new FieldOwnership([info], () => undefined);
}

/** Lets an update pass whose fields cannot be tracked. */
function untracked(error: unknown): undefined {
  if (!(error instanceof TrackingError)) throw error;
}

function notConverted(error: unknown): ConversionReply {
  if (error instanceof DecodeTypeError || error instanceof StatusError) return { error: error.message };
  throw error;
}

function inVersion(object: KubeObject, version: ResourceInfo): Eventual<JsonObject> {
  return inServedVersion(object, version) as unknown as Eventual<JsonObject>;
}

/** Converts a document to its stored form. It may result from a merge and not be decoded yet. */
function storedForm(document: JsonObject, info: ResourceInfo): Eventual<JsonObject> {
  const { object } = info.form.decode(document, { kind: info.kind });
  const typed = { ...object, kind: info.kind } as unknown as KubeObject;
  return inStoredVersion(typed, info) as unknown as Eventual<JsonObject>;
}

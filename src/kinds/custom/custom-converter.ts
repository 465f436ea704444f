import type { Entry } from "../../api/entry.ts";
import { apiVersionOf } from "../../api/gvk.ts";
import type { SignalSource } from "../../api/joint-call.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { DecodeTypeError } from "../../api/schema/decode-error.ts";
import type { ResourceInfo, VersionConverter } from "../../api/scheme/resource.ts";
import { type Eventual, followedBy } from "../../process/eventual.ts";

/** Gives objects of any versions the fields of another one. Takes nothing away that the version does not know. */
export type ConvertVersions = (
  objects: readonly KubeObject[],
  to: ResourceInfo,
  signalOf?: SignalSource,
) => Eventual<readonly KubeObject[]>;

/** Changes nothing but the version. */
export const convertNothing: ConvertVersions = (objects, to) =>
  objects.map((object) => ({ ...object, apiVersion: apiVersionOf(to) }));

/**
 * Converts the objects of a custom kind. Each version reads them by its own schema, also those that were stored in it:
 * the schema may have changed since.
 */
export class CustomConverter implements VersionConverter {
  readonly #convert: ConvertVersions;
  readonly #keepsFields: boolean;

  constructor(convert: ConvertVersions) {
    this.#convert = convert;
    this.#keepsFields = convert === convertNothing;
  }

  servesBody({ index }: Entry, to: ResourceInfo): boolean {
    if (to.form.kind !== "structural" || index.form !== to.form.id) return false;
    return this.#keepsFields || index.apiVersion === apiVersionOf(to);
  }

  convertsAtOnce({ index }: Entry, to: ResourceInfo): boolean {
    return this.#keepsFields || index.apiVersion === apiVersionOf(to);
  }

  convert(objects: readonly KubeObject[], to: ResourceInfo, signalOf?: SignalSource): Eventual<readonly KubeObject[]> {
    return followedBy(this.#convert(objects, to, signalOf), (converted) =>
      converted.map((object) => {
        const read = readAs(object, to);
        to.form.applyDefaults(read as unknown as JsonObject);
        return read;
      }),
    );
  }

  forStorage(object: KubeObject, to: ResourceInfo, signalOf?: SignalSource): Eventual<KubeObject> {
    return followedBy(this.#convert([object], to, signalOf), ([converted]) => readAs(converted as KubeObject, to));
  }
}

/** Returns the object in the form of a version's schema. An object that does not fit is unchanged. */
function readAs(object: KubeObject, to: ResourceInfo): KubeObject {
  const { kind, apiVersion, ...document } = object;
  try {
    const { object: read } = to.form.decode(document as unknown as JsonObject, { kind });
    return { kind, apiVersion, ...read } as unknown as KubeObject;
  } catch (error) {
    if (error instanceof DecodeTypeError) return object;
    throw error;
  }
}

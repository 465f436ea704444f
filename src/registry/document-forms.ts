import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Eventual } from "../api/eventual.ts";
import { inServedVersion, inStoredVersion } from "../api/scheme/conversion/convert.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";

/** Converts the documents that admission sees between their own version and the one that a plugin works with. */
export interface DocumentForms {
  /** Returns the document in this version of its kind. */
  show(document: KubeObject, version: ResourceInfo): Eventual<KubeObject>;
  /** Returns what a plugin made of a document in this version, in the document's own version. */
  enter(document: KubeObject, version: ResourceInfo): Eventual<KubeObject>;
}

/** The forms of objects that are stored: any served version, and the stored one. */
export const storedForms: DocumentForms = {
  show: inServedVersion,
  enter(document, version) {
    version.form.applyDefaults(document as unknown as JsonObject);
    return inStoredVersion(document, version);
  },
};

/** The forms of documents that have one version only: a Scale, a Binding, the options of a connection. */
export const onlyForm: DocumentForms = {
  show: (document) => document,
  enter: (document) => document,
};

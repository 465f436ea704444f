import type { KubeObject } from "../api/object-meta.ts";
import { inServedVersion, inStoredVersion } from "../api/scheme/conversion/convert.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import type { Eventual } from "../process/eventual.ts";

/** Converts the documents that admission sees between their own version and the one that a plugin needs. */
export interface DocumentForms {
  /** Returns the document in the given version of its kind. */
  show(document: KubeObject, version: ResourceInfo): Eventual<KubeObject>;
  /** Converts a plugin's document, which has its defaults, from this version back to its own version. */
  enter(document: KubeObject, version: ResourceInfo): Eventual<KubeObject>;
}

/** Forms of stored objects: any served version, and the stored one. */
export const storedForms: DocumentForms = {
  show: inServedVersion,
  enter: inStoredVersion,
};

/** Forms of documents with a single version: a Scale, a Binding, the options of a connection. */
export const onlyForm: DocumentForms = {
  show: (document) => document,
  enter: (document) => document,
};

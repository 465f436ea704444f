import type { KubeObject, ObjectMeta } from "../api/object-meta.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";

/** An object shown, and written, as a document of another kind: the Scale of a Deployment. */
export interface ObjectView {
  /** The resource with kind, schema and columns of the document. */
  readonly info: ResourceInfo;
  /** @throws StatusError when the object cannot be shown so */
  show(object: KubeObject): KubeObject;
  /** The document that a change starts from, where it can be had of objects that cannot be shown. */
  draft?(object: KubeObject): KubeObject;
  /**
   * Enters what the document says into a copy of the object.
   * @throws StatusError 409 when the document is not of this object, 422 when it breaks a rule
   */
  write(object: KubeObject, document: KubeObject): KubeObject;
  /** The managedFields of the document, from those of the object. */
  entriesOf(entries: ObjectMeta["managedFields"]): ObjectMeta["managedFields"];
  /** The managedFields of the object once a document with those of `written` is entered. */
  entriesWith(entries: ObjectMeta["managedFields"], written: ObjectMeta["managedFields"]): ObjectMeta["managedFields"];
}

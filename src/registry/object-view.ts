import type { KubeObject, ObjectMeta } from "../api/object-meta.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";

/** Shows and writes an object as a document of another kind, such as the Scale of a Deployment. */
export interface ObjectView {
  /** Resource with kind, schema and columns of the document. */
  readonly info: ResourceInfo;
  /**
   * Converts the object to the document.
   * @throws StatusError when that is not possible
   */
  show(object: KubeObject): KubeObject;
  /** Makes the document that a change starts from, for objects that cannot be shown. */
  draft?(object: KubeObject): KubeObject;
  /**
   * Copies the object with the changes of the document.
   * @throws StatusError 409 when the document belongs to another object, 422 when it breaks a rule
   */
  write(object: KubeObject, document: KubeObject): KubeObject;
  /** Converts the object's managedFields to those of the document. */
  entriesOf(entries: ObjectMeta["managedFields"]): ObjectMeta["managedFields"];
  /** Returns the managedFields of the object after writing a document with the entries `written`. */
  entriesWith(entries: ObjectMeta["managedFields"], written: ObjectMeta["managedFields"]): ObjectMeta["managedFields"];
}

import { apiVersionOf } from "../../api/gvk.ts";
import { cloneJson, equalJson, type JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { DecodeTypeError } from "../../api/schema/decode-error.ts";
import { status } from "../../api/status.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import { documentForm } from "../matching/document-form.ts";
import { replaceContents } from "../replace-contents.ts";
import type { MatchedResource } from "../matching/matched-resource.ts";
import { ReviewedDocuments } from "./reviewed-documents.ts";

/**
 * The documents of one request on their way through webhooks, which may want them in different versions. A document that
 * a webhook has changed goes through the request's own object when the next one wants another version.
 */
export class WebhookDocuments {
  readonly #attributes: AdmissionAttributes;
  #matched: MatchedResource | undefined;
  #documents: ReviewedDocuments | undefined;
  /** Documents by the version that they are in, as long as no webhook changes the object. */
  readonly #byVersion = new Map<ResourceInfo, ReviewedDocuments>();
  #isChanged = false;

  constructor(attributes: AdmissionAttributes) {
    this.#attributes = attributes;
  }

  /** The object as far as webhooks have brought it, in whatever version. */
  get object(): KubeObject | undefined {
    return this.#documents?.object ?? this.#attributes.object;
  }

  /** @throws StatusError when the conversion to a version fails */
  async in(matched: MatchedResource): Promise<ReviewedDocuments> {
    const { forms, object, oldObject } = this.#attributes;
    const { info } = matched;
    const known = this.#byVersion.get(info);
    if (known !== undefined) {
      this.#matched = matched;
      this.#documents = known;
      return known;
    }
    await this.enter();
    const shown = async (document: KubeObject | undefined) =>
      document === undefined ? undefined : this.#complete(await forms.show(document, info), matched);
    this.#documents = new ReviewedDocuments(await shown(object), await shown(oldObject));
    this.#matched = matched;
    this.#byVersion.set(info, this.#documents);
    return this.#documents;
  }

  /**
   * Takes over what a webhook made of the object. Unknown fields are dropped.
   * @returns whether the object means something else than before
   * @throws StatusError 500 for a document of the wrong type
   */
  replace(patched: JsonObject): boolean {
    const matched = this.#matched as MatchedResource;
    const before = this.#documents?.object as KubeObject;
    const form = documentForm(matched, this.#attributes.subresource);
    const { kind } = matched.kind;
    try {
      const { object: decoded } = form.decode(patched, { kind });
      const isOther = !equalJson(decoded, form.decode(before as unknown as JsonObject, { kind }).object);
      const typed = { ...decoded, kind, apiVersion: apiVersionOf(matched.kind) };
      form.applyDefaults(typed);
      const changed = (this.#documents as ReviewedDocuments).withObject(typed as unknown as KubeObject);
      this.#documents = changed;
      this.#byVersion.clear();
      this.#byVersion.set(matched.info, changed);
      this.#isChanged = true;
      return isOther;
    } catch (error) {
      if (error instanceof DecodeTypeError) throw status.internal(error.message);
      throw error;
    }
  }

  /** Enters the changes into the object of the request. */
  async enter(): Promise<void> {
    const { object, forms } = this.#attributes;
    const changed = this.#documents?.object;
    if (!this.#isChanged || object === undefined || changed === undefined) return;
    const entered = await forms.enter(
      cloneJson(changed as unknown as JsonObject) as unknown as KubeObject,
      (this.#matched as MatchedResource).info,
    );
    replaceContents(object, entered);
    this.#isChanged = false;
  }

  /** Fields in the order and with the empty values that a reader would get. */
  #complete(document: KubeObject, matched: MatchedResource): KubeObject {
    const form = documentForm(matched, this.#attributes.subresource);
    const { kind } = matched.kind;
    const { object } = form.decode(document as unknown as JsonObject, { kind });
    form.complete(object);
    return { ...object, kind, apiVersion: apiVersionOf(matched.kind) } as unknown as KubeObject;
  }
}

import { apiVersionOf } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { Decoded } from "../../api/schema/decode.ts";
import type { ObjectForm } from "../../api/scheme/object-form.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { type Eventual, followedBy } from "../../process/eventual.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import { replaceContents } from "../replace-contents.ts";
import { documentForm } from "./document-form.ts";
import type { MatchedResource } from "./matched-resource.ts";
import { ShownDocuments } from "./shown-documents.ts";

/** `asRead`: with fields in order and with empty values, as a client would get them. `asKept`: as the server has them. */
export type DocumentLook = "asRead" | "asKept";

/**
 * The documents of one request for webhooks or policies, which may want them in different versions. If one changes a
 * document and the next wants another version, the document is converted by way of the request's own object.
 */
export class RequestDocuments {
  readonly #attributes: AdmissionAttributes;
  readonly #look: DocumentLook;
  #matched: MatchedResource | undefined;
  #documents: ShownDocuments | undefined;
  /** Documents by version. They are dropped when the object changes. */
  readonly #byVersion = new Map<ResourceInfo, ShownDocuments>();
  #isChanged = false;

  constructor(attributes: AdmissionAttributes, look: DocumentLook) {
    this.#attributes = attributes;
    this.#look = look;
  }

  /** The object with the changes so far. Its version may differ from that of the request. */
  get object(): KubeObject | undefined {
    return this.#documents?.object ?? this.#attributes.object;
  }

  /** @throws StatusError when the conversion to a version fails */
  in(matched: MatchedResource): Eventual<ShownDocuments> {
    const known = this.#byVersion.get(matched.info);
    if (known !== undefined) return this.#select(matched, known);
    return followedBy(this.enter(), () => this.#show(matched));
  }

  /** The form of the version in use. */
  get form(): ObjectForm {
    return documentForm(this.#current, this.#attributes.subresource);
  }

  /** Decodes a document as the kind of the version in use. It must not change afterwards. @throws DecodeTypeError */
  decode(document: JsonObject): Decoded {
    const { kind } = this.#current.kind;
    // A custom form would prune in place what the document shares with the one before.
    const takesOver = this.form.kind === "struct";
    const settled = this.#documents?.object as JsonObject | undefined;
    return this.form.decode(document, { kind, takesOver, settled });
  }

  /** Takes over a decoded document in place of the object. */
  replace(decoded: JsonObject): void {
    const changed = this.#typed(decoded, this.#current);
    // The object as it came may lack defaults: plugins have changed it since.
    const settled = this.#isChanged ? (this.#documents?.object as JsonObject | undefined) : undefined;
    this.form.applyDefaults(changed as unknown as JsonObject, settled);
    this.#documents = (this.#documents as ShownDocuments).withObject(changed);
    this.#byVersion.clear();
    this.#byVersion.set(this.#current.info, this.#documents);
    this.#isChanged = true;
  }

  /** Enters the changes into the object of the request. */
  enter(): Eventual<void> {
    const { object, forms } = this.#attributes;
    const changed = this.#documents?.object;
    if (!this.#isChanged || object === undefined || changed === undefined) return;
    this.#isChanged = false;
    // The object takes over their parts, and others change it in place.
    this.#documents = undefined;
    this.#byVersion.clear();
    return followedBy(forms.enter(changed, this.#current.info), (entered) => replaceContents(object, entered));
  }

  get #current(): MatchedResource {
    if (this.#matched === undefined) throw new Error("no version has been chosen");
    return this.#matched;
  }

  #show(matched: MatchedResource): Eventual<ShownDocuments> {
    const { object, oldObject } = this.#attributes;
    return followedBy(this.#shown(object, matched), (after) =>
      followedBy(this.#shown(oldObject, matched), (before) => {
        const documents = new ShownDocuments(after, before);
        this.#byVersion.set(matched.info, documents);
        return this.#select(matched, documents);
      }),
    );
  }

  #select(matched: MatchedResource, documents: ShownDocuments): ShownDocuments {
    this.#matched = matched;
    this.#documents = documents;
    return documents;
  }

  #shown(document: KubeObject | undefined, matched: MatchedResource): Eventual<KubeObject | undefined> {
    if (document === undefined) return undefined;
    const shown = this.#attributes.forms.show(document, matched.info);
    if (this.#look === "asKept") return shown;
    return followedBy(shown, (converted) => {
      const form = documentForm(matched, this.#attributes.subresource);
      const { object } = form.decode(converted as unknown as JsonObject, { kind: matched.kind.kind });
      form.complete(object);
      return this.#typed(object, matched);
    });
  }

  #typed(fields: JsonObject, { kind }: MatchedResource): KubeObject {
    const apiVersion = apiVersionOf(kind);
    const isTyped = fields["kind"] === kind.kind && fields["apiVersion"] === apiVersion;
    return (isTyped ? fields : { ...fields, kind: kind.kind, apiVersion }) as unknown as KubeObject;
  }
}

import type { AdmissionAttributes } from "../../registry/admission.ts";

const valueBytesMax = 10 * 1024;

/** The annotations that policies add to the audit event of a request. Bindings may give one key several values. */
export class AuditAnnotations {
  readonly #attributes: Pick<AdmissionAttributes, "annotate">;
  readonly #values = new Map<string, Set<string>>();

  constructor(attributes: Pick<AdmissionAttributes, "annotate">) {
    this.#attributes = attributes;
  }

  add(policy: string, key: string, value: string): void {
    const full = `${policy}/${key}`;
    const values = this.#values.get(full) ?? new Set();
    values.add(cutToBytes(value));
    this.#values.set(full, values);
  }

  publish(): void {
    for (const [key, values] of this.#values) this.#attributes.annotate(key, [...values].join(", "));
  }
}

function cutToBytes(text: string): string {
  if (Buffer.byteLength(text) <= valueBytesMax) return text;
  return Buffer.from(text).subarray(0, valueBytesMax).toString("utf8");
}

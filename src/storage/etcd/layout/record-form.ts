import { joinBytes } from "../../../api/codec/byte-text.ts";
import { recordIndex } from "../../record-index.ts";
import { splitAtResourceVersion } from "../../resource-version-gap.ts";
import type { ValueForm } from "./value-form.ts";

/** The records that servers of this program keep for each other. Their bodies are stored with an empty resourceVersion. */
export const recordForm: ValueForm = {
  encode: (_key, { body: { prefix, suffix } }) => joinBytes([prefix, suffix]),
  decode: (value) => ({ index: recordIndex, body: splitAtResourceVersion(value) }),
};

import { joinBytes } from "../../../api/codec/byte-text.ts";
import { splitAtResourceVersion } from "../../resource-version-gap.ts";
import type { ValueForm } from "./value-form.ts";

const index = { apiVersion: "v1", uid: "", labels: undefined, fields: undefined, owners: undefined };

/** The records that servers of this program keep for each other. Their bodies are stored with an empty resourceVersion. */
export const recordForm: ValueForm = {
  encode: (_key, { body: { prefix, suffix } }) => joinBytes([prefix, suffix]),
  decode: (value) => ({ index, body: splitAtResourceVersion(value) }),
};

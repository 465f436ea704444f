import type { Library } from "../environment.ts";
import { stringType } from "../types/cel-type.ts";
import { overload } from "../types/declarations.ts";
import { noSuchOverload } from "../values/value.ts";

/** `jsonpatch.escapeKey`, for policies that make patches. */
export const jsonPatchLibrary: Library = {
  functions: [
    {
      name: "jsonpatch.escapeKey",
      overloads: [
        overload("string_jsonpatch_escapeKey_string", [stringType], stringType, {
          unary: (key) => (typeof key === "string" ? key.replaceAll("~", "~0").replaceAll("/", "~1") : noSuchOverload),
        }),
      ],
    },
  ],
};

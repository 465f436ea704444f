import { TextError } from "../../../api/status.ts";

/**
 * Returns the first of the client's subprotocols that is served, or the one without a name if the client names none.
 * @throws TextError 403
 */
export function chosenProtocol<P extends { readonly name: string | undefined }>(
  offered: readonly string[],
  served: readonly P[],
): P {
  const wanted = offered.length === 0 ? [undefined] : offered;
  for (const name of wanted) {
    const found = served.find((protocol) => protocol.name === name);
    if (found !== undefined) return found;
  }
  const names = served.map(({ name = "" }) => name);
  throw new TextError(
    403,
    `requested protocol(s) are not supported: [${offered.join(" ")}]; supports [${names.join(" ")}]`,
  );
}

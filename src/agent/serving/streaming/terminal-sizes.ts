/** Length of one JSON document. Above this, the sizes end. */
const documentCharactersMax = 1_024;

/** Reads sizes of a terminal from a stream of JSON documents. Anything else ends them. */
export async function* terminalSizes(
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly width: number; readonly height: number }, void> {
  let text = "";
  for await (const chunk of input) {
    text += Buffer.from(chunk).toString("latin1");
    for (let end = text.indexOf("}"); end !== -1; end = text.indexOf("}")) {
      const size = sizeOf(text.slice(0, end + 1));
      if (size === undefined) return;
      yield size;
      text = text.slice(end + 1);
    }
    if (text.length > documentCharactersMax) return;
  }
}

function sizeOf(text: string): { readonly width: number; readonly height: number } | undefined {
  try {
    const { Width, Height } = JSON.parse(text) as { readonly Width?: unknown; readonly Height?: unknown };
    return isSize(Width) && isSize(Height) ? { width: Width, height: Height } : undefined;
  } catch {
    return undefined;
  }
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 65_536;
}

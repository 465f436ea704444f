import { TextError } from "../../../api/status.ts";
import type { Clock } from "../../../process/clock.ts";
import { thrownText } from "../../../process/thrown-text.ts";
import type { HttpResponse } from "../../../request/exchange.ts";
import type { PodDirectory } from "../../pods/pod-directory.ts";
import { specOf } from "../known-container.ts";
import type { RouteCall } from "../route.ts";
import { chooseRun } from "./choose-run.ts";
import { parseLogOptions } from "./log-options.ts";
import { writeLog } from "./write-log.ts";

/** Answers `/containerLogs/{namespace}/{pod}/{container}`. @throws TextError 400, 404 or 422 */
export function containerLog(directory: PodDirectory, clock: Clock, call: RouteCall): HttpResponse {
  const { parameters, target, nodeName } = call;
  const [namespace = "", name = "", container = ""] = ["namespace", "pod", "container"].map((one) =>
    parameters.get(one),
  );
  if (name === "") throw new TextError(400, '{"message": "Missing podID."}');
  if (container === "") throw new TextError(400, '{"message": "Missing container name."}');
  if (namespace === "") throw new TextError(400, '{"message": "Missing podNamespace."}');
  const options = parseLogOptions(target.query, clock.nowMs());
  const known = directory.find(namespace, name);
  if (known === undefined || (nodeName !== "" && known.pod.spec?.nodeName !== nodeName)) {
    throw new TextError(404, `pod ${JSON.stringify(name)} does not exist`);
  }
  if (specOf(known.pod, container) === undefined) {
    throw new TextError(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(name)}`);
  }
  const run = chooseRun(known, container, options.previous);
  return {
    kind: "stream",
    code: 200,
    headers: [["content-type", "text/plain; charset=utf-8"]],
    async run(sink) {
      try {
        await writeLog((reading) => known.runtime.logs(run, reading), options, sink);
      } catch (error) {
        // The head is out, so the text of the error takes the place of the rest.
        if (!sink.signal.aborted) sink.write(Buffer.from(thrownText(error)));
      }
    },
  };
}

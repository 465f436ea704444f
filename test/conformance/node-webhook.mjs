// Admission webhooks on Node's own https server: `node node-webhook.mjs CERTIFICATE KEY`. Prints its port.
import { readFileSync } from "node:fs";
import { createServer } from "node:https";

const [certificate, key] = process.argv.slice(2).map((file) => readFileSync(file));
const replicasMax = 5;

/** What each path says to a request; undefined ends the connection without an answer. */
const hooks = {
  "/label": ({ object, operation }) => {
    const labels = { ...object.metadata.labels, "seen-by": operation };
    const patch = [{ op: "add", path: "/metadata/labels", value: labels }];
    return { allowed: true, patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
  },
  "/judge": ({ object, oldObject }) =>
    (object ?? oldObject).data?.value === "bad"
      ? { allowed: false, status: { code: 403, message: "the value is bad" } }
      : { allowed: true, warnings: [`was ${oldObject?.data?.value ?? "new"}`] },
  "/scale": ({ kind, object }) =>
    kind.kind === "Scale" && object.spec.replicas > replicasMax
      ? { allowed: false, status: { code: 403, message: `${object.spec.replicas} replicas` } }
      : { allowed: true },
  "/status": ({ subResource, object }) => ({
    allowed: object.status.phase !== "Failed",
    status: { code: 403, message: `${subResource} is ${object.status.phase}` },
  }),
  "/exec": ({ operation, object, name }) => ({
    allowed: false,
    status: { code: 403, message: `${operation} ${object.command.join(" ")} in ${name}` },
  }),
  "/broken": () => undefined,
};

const server = createServer({ cert: certificate, key }, async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { apiVersion, request: asked } = JSON.parse(Buffer.concat(chunks).toString());
  const answer = hooks[new URL(request.url, "https://localhost").pathname](asked);
  if (answer === undefined) return request.socket.destroy();
  const review = JSON.stringify({ apiVersion, kind: "AdmissionReview", response: { uid: asked.uid, ...answer } });
  response.writeHead(200, { "content-type": "application/json" });
  // The answer comes in two pieces without a length.
  response.write(review.slice(0, 1));
  response.end(review.slice(1));
});
server.listen(0, "0.0.0.0", () => console.log(server.address().port));

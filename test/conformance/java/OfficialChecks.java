import io.kubernetes.client.custom.V1Patch;
import io.kubernetes.client.informer.ResourceEventHandler;
import io.kubernetes.client.informer.SharedInformerFactory;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.apis.ApisApi;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.apis.VersionApi;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1ConfigMapList;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.util.Config;
import io.kubernetes.client.util.Watch;
import io.kubernetes.client.util.generic.GenericKubernetesApi;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The official client. */
final class OfficialChecks {
  private static final String NAMESPACE = "default";
  private static final int WAIT_SECONDS = 20;

  static void run() throws Exception {
    ApiClient client = Config.fromConfig(System.getenv("KUBECONFIG"));
    client.setReadTimeout(0);
    CoreV1Api core = new CoreV1Api(client);
    Clients.check("official: version and discovery", () -> discovery(client));
    Clients.check("official: objects", () -> objects(core));
    Clients.check("official: a Status is an exception", () -> errors(core));
    Clients.check("official: server-side apply", () -> apply(core));
    Clients.check("official: a watch", () -> watch(client, core));
    Clients.check("official: an informer", () -> inform(client, core));
  }

  private static V1ConfigMap map(String name) {
    return new V1ConfigMap().metadata(new V1ObjectMeta().name(name).namespace(NAMESPACE));
  }

  private static void discovery(ApiClient client) throws ApiException {
    Clients.require(new VersionApi(client).getCode().execute().getMajor().equals("1"), "another version");
    Clients.require(!new ApisApi(client).getAPIVersions().execute().getGroups().isEmpty(), "no groups");
    Clients.require(!new CoreV1Api(client).getAPIResources().execute().getResources().isEmpty(), "no resources");
  }

  private static void objects(CoreV1Api core) throws ApiException {
    V1ConfigMap held = core.createNamespacedConfigMap(NAMESPACE, map("official")).execute();
    core.replaceNamespacedConfigMap("official", NAMESPACE, held.putDataItem("a", "1")).execute();
    Clients.require(core.readNamespacedConfigMap("official", NAMESPACE).execute().getData().get("a").equals("1"), held);
    Clients.require(core.listNamespacedConfigMap(NAMESPACE).limit(1).execute().getItems().size() == 1, "no page");
    core.deleteNamespacedConfigMap("official", NAMESPACE).execute();
  }

  private static void errors(CoreV1Api core) {
    try {
      core.readNamespacedConfigMap("absent", NAMESPACE).execute();
      throw new AssertionError("an absent object was read");
    } catch (ApiException error) {
      Clients.require(error.getCode() == 404 && error.getResponseBody().contains("NotFound"), error);
    }
  }

  private static void apply(CoreV1Api core) throws ApiException {
    var maps = new GenericKubernetesApi<>(V1ConfigMap.class, V1ConfigMapList.class, "", "v1", "configmaps", core.getApiClient());
    var patch = new V1Patch("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"applied\"},\"data\":{\"a\":\"1\"}}");
    var options = new io.kubernetes.client.util.generic.options.PatchOptions();
    options.setFieldManager("java");
    var applied = maps.patch(NAMESPACE, "applied", V1Patch.PATCH_FORMAT_APPLY_YAML, patch, options);
    Clients.require(applied.isSuccess() && applied.getObject().getData().get("a").equals("1"), applied.getStatus());
    maps.delete(NAMESPACE, "applied");
  }

  private static void watch(ApiClient client, CoreV1Api core) throws Exception {
    List<String> seen = new ArrayList<>();
    String start = core.listNamespacedConfigMap(NAMESPACE).execute().getMetadata().getResourceVersion();
    core.createNamespacedConfigMap(NAMESPACE, map("watched")).execute();
    core.deleteNamespacedConfigMap("watched", NAMESPACE).execute();
    var call = core.listNamespacedConfigMap(NAMESPACE).watch(true).resourceVersion(start).timeoutSeconds(WAIT_SECONDS)
        .buildCall(null);
    var type = new com.google.gson.reflect.TypeToken<Watch.Response<V1ConfigMap>>() {}.getType();
    try (Watch<V1ConfigMap> watch = Watch.createWatch(client, call, type)) {
      for (Watch.Response<V1ConfigMap> event : watch) {
        seen.add(event.type);
        if (event.type.equals("DELETED")) break;
      }
    }
    Clients.require(seen.equals(List.of("ADDED", "DELETED")), seen);
  }

  private static void inform(ApiClient client, CoreV1Api core) throws Exception {
    var added = new CompletableFuture<String>();
    var factory = new SharedInformerFactory(client);
    var maps = new GenericKubernetesApi<>(V1ConfigMap.class, V1ConfigMapList.class, "", "v1", "configmaps", client);
    var informer = factory.sharedIndexInformerFor(maps, V1ConfigMap.class, 0, NAMESPACE);
    informer.addEventHandler(new ResourceEventHandler<V1ConfigMap>() {
      @Override
      public void onAdd(V1ConfigMap map) {
        if (map.getMetadata().getName().equals("informed")) added.complete("seen");
      }

      @Override
      public void onUpdate(V1ConfigMap before, V1ConfigMap after) {}

      @Override
      public void onDelete(V1ConfigMap map, boolean unknown) {}
    });
    factory.startAllRegisteredInformers();
    try {
      core.createNamespacedConfigMap(NAMESPACE, map("informed")).execute();
      added.get(WAIT_SECONDS, TimeUnit.SECONDS);
    } finally {
      factory.stopAllRegisteredInformers();
      core.deleteNamespacedConfigMap("informed", NAMESPACE).execute();
    }
  }
}

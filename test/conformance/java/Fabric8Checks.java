import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** fabric8, as it is by default: watches go over WebSocket. */
final class Fabric8Checks {
  private static final String NAMESPACE = "default";
  private static final int WAIT_SECONDS = 20;

  static void run() {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      Clients.check("fabric8: version and discovery", () -> discovery(client));
      Clients.check("fabric8: objects", () -> objects(client));
      Clients.check("fabric8: a Status is an exception", () -> errors(client));
      Clients.check("fabric8: pages", () -> pages(client));
      Clients.check("fabric8: a watch", () -> watch(client));
      Clients.check("fabric8: an informer", () -> inform(client));
      Clients.check("fabric8: leader election", () -> elect(client));
      Clients.check("fabric8: server-side apply", () -> apply(client));
      Clients.check("fabric8: custom objects", () -> customObjects(client));
    }
  }

  private static ConfigMap map(String name) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace(NAMESPACE).addToLabels("by", "fabric8")
        .endMetadata().build();
  }

  private static void discovery(KubernetesClient client) {
    Clients.require(client.getKubernetesVersion().getMajor().equals("1"), client.getKubernetesVersion());
    Clients.require(client.supports("apps/v1", "Deployment"), client.getApiGroups());
    Clients.require(client.getApiGroup("batch") != null, client.getApiGroups());
  }

  private static void objects(KubernetesClient client) {
    client.resource(map("fabric8")).create();
    var one = client.configMaps().inNamespace(NAMESPACE).withName("fabric8");
    one.edit(held -> new ConfigMapBuilder(held).addToData("a", "1").build());
    one.patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"b\":\"2\"}}");
    Clients.require(one.get().getData().equals(Map.of("a", "1", "b", "2")), one.get());
    var found = client.configMaps().inNamespace(NAMESPACE).withLabel("by", "fabric8").list().getItems();
    Clients.require(found.size() == 1, found);
    one.delete();
    Clients.require(one.get() == null, one.get());
  }

  private static void errors(KubernetesClient client) {
    try {
      client.resource(new ConfigMapBuilder(map("Not A Name")).build()).create();
      throw new AssertionError("an invalid name was accepted");
    } catch (KubernetesClientException error) {
      Clients.require(error.getCode() == 422 && error.getStatus().getReason().equals("Invalid"), error);
    }
  }

  private static void pages(KubernetesClient client) {
    var page = client.namespaces().list(new ListOptionsBuilder().withLimit(1L).build());
    Clients.require(page.getItems().size() == 1, page);
    var next = new ListOptionsBuilder().withLimit(1L).withContinue(page.getMetadata().getContinue()).build();
    Clients.require(client.namespaces().list(next).getItems().size() == 1, page);
  }

  private static void watch(KubernetesClient client) throws Exception {
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    var watcher = new Watcher<ConfigMap>() {
      @Override
      public void eventReceived(Action action, ConfigMap map) {
        seen.add(action.name());
      }

      @Override
      public void onClose(WatcherException cause) {
        seen.add("closed");
      }
    };
    var one = client.configMaps().inNamespace(NAMESPACE).withName("watched");
    try (var watch = one.watch(watcher)) {
      client.resource(map("watched")).create();
      one.edit(held -> new ConfigMapBuilder(held).addToData("a", "1").build());
      one.delete();
      for (String expected : List.of("ADDED", "MODIFIED", "DELETED")) {
        String event = seen.poll(WAIT_SECONDS, TimeUnit.SECONDS);
        Clients.require(expected.equals(event), event);
      }
    }
  }

  private static void inform(KubernetesClient client) throws Exception {
    try (var informer = client.configMaps().inNamespace(NAMESPACE).withLabel("by", "fabric8").inform()) {
      Clients.require(informer.hasSynced(), "the informer has not synced");
      client.resource(map("informed")).create();
      for (int tries = 0; informer.getStore().list().isEmpty(); tries++) {
        Clients.require(tries < WAIT_SECONDS * 10, "the informer does not see the object");
        TimeUnit.MILLISECONDS.sleep(100);
      }
      client.resource(map("informed")).delete();
    }
  }

  private static void elect(KubernetesClient client) throws Exception {
    var leading = new CompletableFuture<Void>();
    var config = new LeaderElectionConfigBuilder().withName("election").withLock(new LeaseLock(NAMESPACE, "fabric8", "me"))
        .withLeaseDuration(Duration.ofSeconds(15)).withRenewDeadline(Duration.ofSeconds(10))
        .withRetryPeriod(Duration.ofSeconds(1)).withReleaseOnCancel(false)
        .withLeaderCallbacks(new LeaderCallbacks(() -> leading.complete(null), () -> {}, leader -> {})).build();
    var election = client.leaderElector().withConfig(config).build().start();
    leading.get(WAIT_SECONDS, TimeUnit.SECONDS);
    election.cancel(true);
    client.leases().inNamespace(NAMESPACE).withName("fabric8").delete();
  }

  private static void apply(KubernetesClient client) {
    ConfigMap applied = client.resource(new ConfigMapBuilder(map("applied")).addToData("a", "1").build())
        .fieldManager("java").serverSideApply();
    Clients.require(applied.getMetadata().getManagedFields().get(0).getOperation().equals("Apply"), applied);
    client.resource(applied).delete();
  }

  private static void customObjects(KubernetesClient client) throws Exception {
    List<HasMetadata> definition = client.load(Fabric8Checks.class.getResourceAsStream("/gadgets.yaml")).create();
    client.resourceList(definition).waitUntilCondition(
        made -> made instanceof io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition crd
            && crd.getStatus() != null && crd.getStatus().getConditions().stream()
                .anyMatch(one -> one.getType().equals("Established") && one.getStatus().equals("True")),
        WAIT_SECONDS, TimeUnit.SECONDS);
    var gadgets = client.genericKubernetesResources("java.example.com/v1", "Gadget").inNamespace(NAMESPACE);
    var gadget = new GenericKubernetesResource();
    gadget.setApiVersion("java.example.com/v1");
    gadget.setKind("Gadget");
    gadget.setMetadata(map("g").getMetadata());
    gadget.setAdditionalProperty("spec", Map.of("size", 1));
    gadgets.resource(gadget).create();
    Clients.require(gadgets.list().getItems().size() == 1, gadgets.list());
    gadgets.withName("g").delete();
    client.resourceList(definition).delete();
  }
}

import io.quarkiverse.mcp.server.Tool;
import io.quarkiverse.mcp.server.ToolManager;
import io.quarkiverse.mcp.server.ToolResponse;
import io.quarkus.runtime.StartupEvent;
import io.quarkus.vertx.http.HttpServerStart;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.ObservesAsync;
import jakarta.inject.Inject;
import org.eclipse.microprofile.config.ConfigProvider;

/** The tools of the benchmark, served by Quarkus: {@code TOOLS=100 java -jar quarkus.jar}. */
public class Shop {
    @Inject
    ToolManager tools;

    @Tool(description = "Adds two numbers.")
    String add(int a, int b) {
        return String.valueOf(a + b);
    }

    @Tool(description = "Reads a page.")
    String page() {
        return "x".repeat(10_000);
    }

    void addTools(@Observes StartupEvent start) {
        int count = Integer.parseInt(System.getenv().getOrDefault("TOOLS", "100"));
        for (int number = 2; number < count; number++) {
            tools.newTool("tool_" + number)
                    .setDescription("Adds two numbers.")
                    .addArgument("a", "", true, int.class)
                    .addArgument("b", "", true, int.class)
                    .setHandler(call -> {
                        Number a = (Number) call.args().get("a");
                        Number b = (Number) call.args().get("b");
                        return ToolResponse.success(String.valueOf(a.intValue() + b.intValue()));
                    })
                    .register();
        }
    }

    void printUrl(@ObservesAsync HttpServerStart start) {
        int port = ConfigProvider.getConfig().getValue("quarkus.http.port", Integer.class);
        System.out.println("http://127.0.0.1:" + port + "/mcp");
    }
}

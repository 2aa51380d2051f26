package bench;

import io.modelcontextprotocol.server.McpServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** The tools of the benchmark, served by Spring AI: {@code TOOLS=100 java -jar spring-ai.jar}. */
@SpringBootApplication
public class Shop {
    public static void main(String[] args) {
        SpringApplication.run(Shop.class, args);
    }

    @Component
    static class Tools {
        @McpTool(description = "Adds two numbers.")
        public String add(int a, int b) {
            return String.valueOf(a + b);
        }

        @McpTool(description = "Reads a page.")
        public String page() {
            return "x".repeat(10_000);
        }
    }

    @Bean
    List<SyncToolSpecification> moreTools() {
        int count = Integer.parseInt(System.getenv().getOrDefault("TOOLS", "100"));
        return IntStream.range(2, count).mapToObj(Shop::addTool).toList();
    }

    private static SyncToolSpecification addTool(int number) {
        Map<String, Object> integer = Map.of("type", "integer");
        Map<String, Object> schema = Map.of(
                "type", "object",
                "properties", Map.of("a", integer, "b", integer),
                "required", List.of("a", "b"));
        Tool tool = Tool.builder("tool_" + number, schema).description("Adds two numbers.").build();
        return SyncToolSpecification.builder()
                .tool(tool)
                .callHandler((exchange, call) -> {
                    Number a = (Number) call.arguments().get("a");
                    Number b = (Number) call.arguments().get("b");
                    String sum = String.valueOf(a.intValue() + b.intValue());
                    return CallToolResult.builder().addTextContent(sum).build();
                })
                .build();
    }

    @EventListener
    void printUrl(WebServerInitializedEvent start) {
        System.out.println("http://127.0.0.1:" + start.getWebServer().getPort() + "/mcp");
    }
}

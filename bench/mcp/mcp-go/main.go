// The tools of the benchmark, served by mcp-go: `mcp-go http|stdio REVISION TOOLS`.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func add(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	a, err := request.RequireInt("a")
	if err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	b, err := request.RequireInt("b")
	if err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	return mcp.NewToolResultText(strconv.Itoa(a + b)), nil
}

func page(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(strings.Repeat("x", 10_000)), nil
}

func addTool(name string) mcp.Tool {
	return mcp.NewTool(name,
		mcp.WithDescription("Adds two numbers."),
		mcp.WithInteger("a", mcp.Required()),
		mcp.WithInteger("b", mcp.Required()))
}

func main() {
	tools, err := strconv.Atoi(os.Args[3])
	check(err)
	shop := server.NewMCPServer("mcp-go", "1.0.0")
	shop.AddTool(addTool("add"), add)
	shop.AddTool(mcp.NewTool("page", mcp.WithDescription("Reads a page.")), page)
	for number := 2; number < tools; number++ {
		shop.AddTool(addTool(fmt.Sprintf("tool_%d", number)), add)
	}
	if os.Args[1] == "stdio" {
		check(server.ServeStdio(shop))
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	routes := http.NewServeMux()
	routes.Handle("/mcp", server.NewStreamableHTTPServer(shop))
	check(http.Serve(listener, routes))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// The tools of the benchmark, served by the official Go SDK: `go-sdk http|stdio REVISION TOOLS`.
//
// Over HTTP the SDK answers revisions without sessions only if it is told to have none.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type numbers struct {
	A int `json:"a"`
	B int `json:"b"`
}

func text(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func add(_ context.Context, _ *mcp.CallToolRequest, in numbers) (*mcp.CallToolResult, any, error) {
	return text(strconv.Itoa(in.A + in.B)), nil, nil
}

func page(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
	return text(strings.Repeat("x", 10_000)), nil, nil
}

func main() {
	tools, err := strconv.Atoi(os.Args[3])
	check(err)
	shop := mcp.NewServer(&mcp.Implementation{Name: "go-sdk", Version: "1.0.0"}, nil)
	mcp.AddTool(shop, &mcp.Tool{Name: "add", Description: "Adds two numbers."}, add)
	mcp.AddTool(shop, &mcp.Tool{Name: "page", Description: "Reads a page."}, page)
	for number := 2; number < tools; number++ {
		name := fmt.Sprintf("tool_%d", number)
		mcp.AddTool(shop, &mcp.Tool{Name: name, Description: "Adds two numbers."}, add)
	}
	if os.Args[1] == "stdio" {
		check(shop.Run(context.Background(), &mcp.StdioTransport{}))
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	routes := http.NewServeMux()
	serve := func(*http.Request) *mcp.Server { return shop }
	options := &mcp.StreamableHTTPOptions{Stateless: os.Args[2] == "2026-07-28"}
	routes.Handle("/mcp", mcp.NewStreamableHTTPHandler(serve, options))
	check(http.Serve(listener, routes))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

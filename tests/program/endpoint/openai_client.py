"""A server's URL in, `all well` out: OpenAI's own client completes chats, with tools on either side."""

import asyncio
import json
import sys

import openai
import pydantic

URL = f"{sys.argv[1]}/v1"
QUESTION = [{"role": "user", "content": "What time is it in Tokyo?"}]
BLINK = {
    "type": "function",
    "function": {
        "name": "blink_lamp",
        "description": "Blinks the lamp in the hall.",
        "parameters": {"type": "object", "properties": {"times": {"type": "integer"}}, "required": ["times"]},
    },
}


def whole(client):
    [model, *_] = [model.id for model in client.models.list()]
    assert client.models.retrieve(model).id == model
    answer = client.chat.completions.create(model=model, messages=QUESTION)
    [choice] = answer.choices
    assert choice.finish_reason == "stop", answer
    assert "Tokyo" in choice.message.content, answer
    assert choice.message.tool_calls is None, answer
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 0, answer
    return model


def streamed(client, model):
    options = {"include_usage": True}
    chunks = list(client.chat.completions.create(model=model, messages=QUESTION, stream=True, stream_options=options))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert "Tokyo" in text, chunks
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop", chunks
    assert chunks[-1].usage.total_tokens > 0, chunks[-1]
    # The client's own assembler of streams.
    with client.chat.completions.stream(model=model, messages=QUESTION) as stream:
        final = stream.get_final_completion()
    assert "Tokyo" in final.choices[0].message.content, final


def tools_of_the_caller(client, model):
    messages = [{"role": "user", "content": "Blink the lamp in the hall 3 times"}]
    answer = client.chat.completions.create(model=model, messages=messages, tools=[BLINK])
    [choice] = answer.choices
    assert choice.finish_reason == "tool_calls", answer
    [call] = choice.message.tool_calls
    assert call.function.name == "blink_lamp", answer
    assert json.loads(call.function.arguments) == {"times": 3}, answer
    messages.append(choice.message.model_dump(exclude_none=True))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": "The lamp blinked 3 times."})
    answer = client.chat.completions.create(model=model, messages=messages, tools=[BLINK])
    assert answer.choices[0].finish_reason == "stop", answer
    assert "blinked" in answer.choices[0].message.content, answer


class Place(pydantic.BaseModel):
    city: str
    people: int


def structured(client, model):
    question = [{"role": "user", "content": "The city is Bern, with 134000 people."}]
    answer = client.chat.completions.parse(model=model, messages=question, response_format=Place)
    assert answer.choices[0].message.parsed.people == 134000, answer
    with client.chat.completions.stream(model=model, messages=question, response_format=Place) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].message.parsed.people == 134000, final


def refusals(client, model):
    refund = [{"role": "user", "content": "Refund 25 euros for order A-1"}]
    answer = client.chat.completions.create(model=model, messages=refund)
    assert "approv" in answer.choices[0].message.content, answer
    try:
        client.chat.completions.create(model="gpt-nowhere", messages=QUESTION)
    except openai.NotFoundError as error:
        assert error.code == "model_not_found", error
    else:
        raise AssertionError("a model that is not there was found")
    try:
        client.chat.completions.create(model=model, messages=QUESTION, n=2)
    except openai.BadRequestError as error:
        assert error.param == "n", error
    else:
        raise AssertionError("there were two answers")


async def at_once(model):
    async with openai.AsyncOpenAI(base_url=URL, api_key="none", max_retries=0) as client:
        asked = [client.chat.completions.create(model=model, messages=QUESTION) for _ in range(8)]
        answers = await asyncio.gather(*asked)
    assert all("Tokyo" in answer.choices[0].message.content for answer in answers)
    assert len({answer.id for answer in answers}) == 8


with openai.OpenAI(base_url=URL, api_key="none", max_retries=0) as client:
    model = whole(client)
    streamed(client, model)
    tools_of_the_caller(client, model)
    structured(client, model)
    refusals(client, model)
asyncio.run(at_once(model))
print("all well")

"""A model behind LiteLLM: reads two files, then says what it was given of them. LiteLLM puts it into each wire format."""

from litellm import CustomLLM

USAGE = {"prompt_tokens": 1100, "completion_tokens": 70, "total_tokens": 1170}
FILES = ["a.txt", "b.txt"]


def piece(text="", call=None, finish=""):
    return {
        "text": text,
        "tool_use": call,
        "index": 0,
        "is_finished": bool(finish),
        "finish_reason": finish,
        "usage": USAGE if finish else None,
    }


def call(index, name, arguments):
    function = {"name": name, "arguments": arguments}
    return {"id": f"call_{index}" if name else None, "type": "function", "index": index, "function": function}


class House(CustomLLM):
    async def astreaming(self, *args, **kwargs):
        results = [message["content"] for message in kwargs["messages"] if message["role"] == "tool"]
        if not results:
            yield piece("I look ")
            yield piece("first. 先看。")
            for index, file in enumerate(FILES):
                yield piece(call=call(index, "file_reader", '{"path"'))
                yield piece(call=call(index, None, f': "{file}"}}'))
            yield piece(finish="tool_calls")
            return
        for result in results:
            text = result if isinstance(result, str) else "".join(part["text"] for part in result)
            yield piece("It says ")
            yield piece(f"«{text}». ")
        yield piece("完。")
        yield piece(finish="stop")


house = House()

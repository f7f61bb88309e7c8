# A server of a released model:
#
#   docker build -t disan_tf .
#   docker run --rm -p 8000:8000 disan_tf
#   docker run --rm -p 8000:8000 -v "$PWD/runs/own:/model:ro" disan_tf --checkpoint=/model
FROM python:3.12-slim
# With the compiler, attention in long texts is 15 to 25 times as fast.
RUN apt-get update && apt-get install --yes --no-install-recommends g++ \
  && rm -rf /var/lib/apt/lists/* && useradd --create-home server
COPY . /source
RUN pip install --no-cache-dir -r /source/requirements-2.21.txt "/source[serve]" && rm -r /source
USER server
WORKDIR /home/server
# Compiles the native operations for this machine's processor. On another processor, the server
# compiles them again when it starts.
RUN python -m disan_tf.ops.native
EXPOSE 8000
ENTRYPOINT ["disan-tf", "--mode=serve", "--host=0.0.0.0"]
CMD ["--checkpoint=disan_trec"]

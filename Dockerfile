# A desk in a container: "docker build -t aitp-desk ." It runs without root and with a read-only root
# file system; it writes only to /data. examples/container/compose.yaml shows how it is run.
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
# as in --build-arg EXTRAS=[postgres,redis]
ARG EXTRAS=
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY aitp_desk ./aitp_desk
COPY capabilities ./capabilities
RUN python -m venv /opt/aitp-desk \
    && /opt/aitp-desk/bin/pip install --no-cache-dir "/src${EXTRAS}" \
    && /opt/aitp-desk/bin/pip uninstall --yes pip

FROM python:${PYTHON}-slim
COPY --from=build /opt/aitp-desk /opt/aitp-desk
RUN install -d -o 10001 -g 10001 -m 700 /data
ENV HOME=/data PATH=/opt/aitp-desk/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/ready')"]
ENTRYPOINT ["aitp-desk"]
CMD ["serve", "/site", "--data", "/data", "--host", "0.0.0.0"]

// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// An ERC-721 token in the style of OpenZeppelin: owners, approvals of one token and of all.
abstract contract Owners {
    mapping(uint => address) internal owners;
    mapping(uint => address) internal approved;
    mapping(address => mapping(address => bool)) internal operators;

    function exists(uint token) internal view returns (bool) {
        return owners[token] != address(0);
    }

    function approve(address to, uint token) public {
        address owner = owners[token];
        require(owner != address(0) && to != owner);
        require(msg.sender == owner || operators[owner][msg.sender]);
        approved[token] = to;
    }

    function setApprovalForAll(address operator, bool yes) public {
        require(operator != msg.sender);
        operators[msg.sender][operator] = yes;
        assert(!operators[msg.sender][msg.sender]); // expect: safe
    }

    function transferFrom(address from, address to, uint token) public {
        require(exists(token) && owners[token] == from && to != address(0));
        require(msg.sender == from || approved[token] == msg.sender || operators[from][msg.sender]);
        delete approved[token];
        owners[token] = to;
        assert(exists(token)); // expect: safe
        assert(approved[token] == address(0)); // expect: safe
    }
}

contract Collectible is Owners {
    uint next = 1;

    function mint() public returns (uint token) {
        require(msg.sender != address(0));
        token = next;
        next += 1;
        owners[token] = msg.sender;
        assert(exists(token)); // expect: safe
    }

    function numbered() public view {
        assert(next > 0); // expect: safe
    }

    function approvals(uint token) public view {
        assert(approved[token] == address(0)); // expect: unsafe
    }
}
